# SPDX-License-Identifier: Apache-2.0
"""Each rule of check_layers.py catches a file that breaks it, and none that keeps it."""
import pathlib
import tempfile
import unittest

import check_layers

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
README = "| folder | may include | what |\n| --- | --- | --- |\n| io | | |\n| kv | io | |\n"


class CheckLayers(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.write("src/README.md", README)
        self.write("include/quire/error.h", SPDX + "#include <string>\n#include <quire/error.h>\n")
        self.write("src/io/file.cc", SPDX + '#include "io/file.h"\n#include <sys/mman.h>\n')
        self.write("src/io/file.h", SPDX + "// abort() is for others; so is std::cout\n")
        self.write("src/kv/page.cc", SPDX + '#include "io/file.h"\nchar s[] = "exit(1)";\n')
        self.write("tests/kv/page_test.cc", SPDX + '#include "kv/page.h"\n#include "gtest/gtest.h"\n')
        self.write("examples/hello.cc", SPDX + "#include <quire/error.h>\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def expect(self, name, text, problem):
        """Exactly one violation, of the file `name` with `text`, that names the problem."""
        self.write(name, text)
        found = check_layers.check(self.root)
        self.assertEqual(len(found), 1, found)
        self.assertIn(name, found[0])
        self.assertIn(problem, found[0])

    def test_good_tree_passes(self):
        self.assertEqual(check_layers.check(self.root), [])

    def test_include_against_the_table(self):
        self.expect("src/io/up.cc", SPDX + '  # include "kv/page.h"\n', "does not let io do so")

    def test_test_against_the_table(self):
        self.expect("tests/io/up_test.cc", SPDX + '#include "kv/page.h"\n', "does not let io")

    def test_relative_include(self):
        self.expect("src/io/up.cc", SPDX + '#include "../kv/page.h"\n', "does not begin with")

    def test_public_header_in_quotes(self):
        self.expect("src/io/up.cc", SPDX + '#include "quire/error.h"\n', "angle brackets")

    def test_missing_public_header(self):
        self.expect("src/io/up.cc", SPDX + "#include <quire/no.h>\n", "no public header")

    def test_third_party_in_public_header(self):
        self.expect("include/quire/a.h", SPDX + "#include <nlohmann/json.hpp>\n", "C++'s own")

    def test_example_with_internals(self):
        self.expect("examples/cli/a.cc", SPDX + '#include "io/file.h"\n', "public headers only")

    def test_whole_torch(self):
        self.expect("src/kv/a.cc", SPDX + "#include <torch/torch.h>\n", "one <ATen/ops/x.h>")

    def test_long_file(self):
        self.expect("src/io/a.cc", SPDX + "\n" * 400, "has 401 lines; 400")

    def test_long_public_header(self):
        self.expect("include/quire/a.h", SPDX + "\n" * 200, "has 201 lines; 200")

    def test_no_licence_line(self):
        self.expect("tests/io/a.cc", "#pragma once\n", "SPDX")

    def test_banned_folder(self):
        self.write("src/io/util/a.h", SPDX)
        self.assertIn("says nothing", check_layers.check(self.root)[0])

    def test_banned_calls(self):
        for call in ("std::cout << 1;", "std::printf (1);", "abort();", "_exit(1);", "getenv(name);"):
            self.expect("src/io/a.cc", SPDX + "\n" + call + "\n", "line 3 calls")

    def test_similar_names_are_no_calls(self):
        self.write("src/io/a.cc", SPDX + "std::snprintf(b, n, f); on_exit(1); exit_code; s.aborted();\n")
        self.assertEqual(check_layers.check(self.root), [])

    def test_folder_without_a_row(self):
        (self.root / "src/other").mkdir()
        self.assertIn("no row", check_layers.check(self.root)[0])

    def test_table_with_a_cycle(self):
        self.expect("src/README.md", README.replace("| io | |", "| io | kv |"), "not a row above")


if __name__ == "__main__":
    unittest.main()
