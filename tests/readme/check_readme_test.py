# SPDX-License-Identifier: Apache-2.0
"""What check_readme.py finds, on small trees with a program of their own."""
import contextlib
import io
import pathlib
import tempfile
import unittest

import check_readme

PROGRAM = r"""#!/bin/sh
case "$*" in
  --help) printf 'Subcommands:\n  greet   Says so\n' ;;
  'greet --help') printf -- '  -l,--loud   Louder\n' ;;
  'greet --loud') echo hello >greeting ;;
  *) exit 3 ;;
esac
"""


class CheckReadme(unittest.TestCase):
    def faults(self, readme):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src").mkdir()
            (root / "bin").mkdir()
            (root / "bin/quire").write_text(PROGRAM)
            (root / "bin/quire").chmod(0o755)
            (root / "CMakePresets.json").write_text('{"configurePresets": [{"name": "dev"}]}')
            (root / "README.md").write_text(readme)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                faults = check_readme.check(root, str(root / "bin"))
            self.output = out.getvalue()
            self.left_alone = not (root / "greeting").exists()
            return faults

    def test_a_good_one(self):
        self.assertEqual(self.faults(
            "`quire greet -l` is in `src/` and [here](src).\n"
            "```sh\nquire greet --loud   # then\ncat greeting |\n  grep hello\n```\n"), [])
        self.assertTrue(self.left_alone)
        self.assertIn("hello", self.output)

    def test_a_command_that_fails(self):
        self.assertIn("status 3", self.faults("```sh\nquire greet --soft\ntrue\n```\n")[0])
        self.assertIn("status 1", self.faults("```sh\nfalse | cat\n```\n")[0])

    def test_commands_of_elsewhere_are_listed_and_checked(self):
        self.assertEqual(self.faults("```sh\ncmake --preset dev\n```\n"), [])
        self.assertIn("not run: cmake --preset dev", self.output)
        self.assertIn("no such preset", self.faults("```sh\ncmake --preset fast\n```\n")[0])
        self.assertIn("no such program", self.faults("```sh\ncmake/setup.sh   # first\n```\n")[0])

    def test_text(self):
        block = "```sh\ntrue\n```\n"
        self.assertIn("no option --soft", self.faults(block + "`quire greet --soft`")[0])
        self.assertIn("no such command", self.faults(block + "`quire sing`")[0])
        self.assertIn("no such file", self.faults(block + "`src/nothing.cc`")[0])
        self.assertIn("no such file", self.faults(block + "[x](nothing.md)")[0])

    def test_no_blocks(self):
        self.assertEqual(self.faults("Nothing."), ["README.md has no ```sh block"])


if __name__ == "__main__":
    unittest.main()
