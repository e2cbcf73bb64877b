// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"

namespace quire::jinja {

// Parses a template, and refuses what the reference refuses when it compiles one: an unknown filter
// or test outside of any if, break outside a loop, a variable named loop set in a loop, ….
// Throws Failure kSyntax with the line, also for nesting deeper than limits.max_depth.
std::unique_ptr<const Template> parse_template(std::string_view source,
                                               const TemplateLimits& limits);

class Parser {
 public:
  Parser(std::string_view source, const TemplateLimits& limits);
  std::unique_ptr<Template> parse();

 private:
  // What encloses the place being parsed.
  struct Context {
    bool soft = false;     // directly in an if: unknown filters fail only when reached
    bool in_loop = false;  // break and continue are allowed
    int loops = 0;         // for blocks around, macros between or not
    bool top_level = true;
  };
  class Scope;  // restores the context

  // Tokens.
  const Token& current() const { return current_; }
  const Token& look();
  Token take();
  bool at(TokenKind kind) const { return current_.kind == kind; }
  bool at_operator(std::string_view op) const;
  bool at_name(std::string_view name) const;
  bool skip_operator(std::string_view op);
  bool skip_name(std::string_view name);
  void expect_operator(std::string_view op);
  void expect_name(std::string_view name);
  std::string expect_identifier();
  void expect(TokenKind kind);
  [[noreturn]] void fail_at(int line, const std::string& message) const;
  [[noreturn]] void fail_expected(const std::string& what) const;

  // Statements.
  Body parse_body(const std::vector<std::string_view>& ends);
  Body parse_block_body(const std::vector<std::string_view>& ends, bool drop_end);
  StatementPtr parse_statement();
  StatementPtr parse_known_statement(const std::string& tag);
  StatementPtr parse_other_statement(const std::string& tag);
  StatementPtr parse_print();
  StatementPtr parse_for();
  StatementPtr parse_if();
  StatementPtr parse_set();
  StatementPtr parse_macro();
  StatementPtr parse_call_block();
  StatementPtr parse_filter_block();
  StatementPtr parse_with();
  StatementPtr parse_autoescape();
  StatementPtr parse_generation();
  StatementPtr parse_block();
  void check_empty(const BlockStatement& block) const;
  StatementPtr parse_loop_control();
  StatementPtr parse_foreign();
  bool look_is_name(std::string_view name);
  bool skip_import_context();
  void parse_imported_names();
  void parse_signature(MacroBody& macro);
  void parse_macro_body(MacroBody& macro, std::string_view end);
  [[noreturn]] void fail_unknown_tag(const std::string& tag, int line) const;
  [[noreturn]] void fail_unexpected_end() const;
  std::string looked_for() const;

  // Targets.
  Target parse_target(bool with_namespace);
  Target parse_target_part(bool with_namespace);
  Target to_target(const Expr& expr) const;
  Target name_target();
  void check_store(const Target& target, int line) const;

  // Expressions.
  ExprPtr parse_expression(bool conditional = true);
  ExprPtr parse_conditional();
  ExprPtr parse_or();
  ExprPtr parse_and();
  ExprPtr parse_not();
  ExprPtr parse_compare();
  bool parse_compare_operator(CompareOp& op);
  ExprPtr parse_sum();
  ExprPtr parse_concat();
  ExprPtr parse_product();
  ExprPtr parse_power();
  ExprPtr parse_unary(bool with_filter = true);
  ExprPtr parse_primary();
  ExprPtr parse_name();
  ExprPtr parse_string();
  ExprPtr parse_tuple(bool conditional, bool parentheses = false);
  bool at_tuple_end() const;
  ExprPtr parse_list();
  ExprPtr parse_dict();
  ExprPtr parse_postfix(ExprPtr expr);
  ExprPtr parse_filters_and_tests(ExprPtr expr);
  ExprPtr parse_subscript(ExprPtr object);
  ExprPtr parse_index();
  ExprPtr parse_call(ExprPtr callee);
  ExprPtr parse_filter(ExprPtr operand, bool inside = false);
  ExprPtr parse_test(ExprPtr operand);
  bool at_test_argument() const;
  CallArguments parse_arguments();
  void parse_argument(CallArguments& arguments, int line);
  std::string parse_dotted_name();

  // A finished node: counts its depth.
  ExprPtr finish(ExprPtr expr, int deepest);
  static int deepest(const CallArguments& arguments);
  void note_unknown(const std::string& name, bool filter, int line);
  NameId intern(const std::string& name);

  Lexer lexer_;
  Token current_;
  std::vector<Token> ahead_;  // at most one
  int max_depth_;
  int depth_ = 0;
  Context context_;
  std::unique_ptr<Template> template_ = std::make_unique<Template>();
  std::unordered_map<std::string, NameId> names_;
  std::set<std::string> blocks_;                      // names of the blocks so far
  std::vector<std::pair<int, std::string>> unknown_;  // filters and tests: line, message
  std::vector<std::vector<std::string_view>> ends_;   // tags that would close the open blocks
  std::vector<std::string> tags_;                     // the open blocks
  std::vector<MacroBody*> macros_;                    // being parsed, innermost last
};

}  // namespace quire::jinja
