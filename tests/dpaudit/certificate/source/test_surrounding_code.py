"""What a subject's code imports of its project, and its lock file, are part of what is certified."""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from dpaudit.certificate.source.surrounding_code import IMPORTS, LOCK, imported_modules, lock_file, surroundings


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """mine.py imports a helper, which imports a package that imports relatively; unused.py is imported by nobody."""
    files = {
        "pyproject.toml": "",
        "service/mine.py": "import json\nimport numpy\nfrom helper import scale\n",
        "service/helper.py": "def scale():\n    import tools.deep.inner as inner\n    return inner.SCALE\n",
        "service/unused.py": "",
        "tools/__init__.py": "",
        "tools/deep/__init__.py": "from . import aside\nfrom .. import above\n",
        "tools/deep/inner.py": "SCALE = 2\n",
        "tools/deep/aside.py": "import service.mine\n",
        "tools/above.py": "import dpaudit\nimport missing_package\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_imports_are_followed_through_the_project_and_no_further(project: Path) -> None:
    names = {"helper", "tools", "tools.deep", "tools.deep.inner", "tools.deep.aside", "tools.above"}
    assert imported_modules(project / "service" / "mine.py").keys() == names


@pytest.mark.parametrize("name", ["service/helper.py", "tools/__init__.py", "tools/deep/inner.py", "tools/above.py"])
def test_an_edit_of_what_is_imported_changes_the_digest(project: Path, name: str) -> None:
    before = surroundings(project / "service" / "mine.py")
    with (project / name).open("a", encoding="utf-8") as file:
        file.write("# edited\n")
    assert surroundings(project / "service" / "mine.py")[IMPORTS] != before[IMPORTS]


@pytest.mark.parametrize("name", ["service/unused.py", "service/mine.py"])
def test_an_edit_of_anything_else_does_not(project: Path, name: str) -> None:
    before = surroundings(project / "service" / "mine.py")
    with (project / name).open("a", encoding="utf-8") as file:
        file.write("# edited\n")
    assert surroundings(project / "service" / "mine.py") == before


def test_a_package_s_own_files_are_its_source(project: Path) -> None:
    assert imported_modules(project / "tools").keys() == {"service.mine"}


def test_a_project_elsewhere_has_the_same_digest(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    copy = project.rename(tmp_path_factory.mktemp("elsewhere") / "copy")
    (project).mkdir()
    again = surroundings(copy / "service" / "mine.py")
    copy.rename(project / "inner")
    assert surroundings(project / "inner" / "service" / "mine.py") == again


def test_the_nearest_lock_file_counts(project: Path) -> None:
    code = project / "service" / "mine.py"
    assert lock_file(code) is None
    assert LOCK not in surroundings(code)
    (project.parent / "uv.lock").write_text("outside", encoding="utf-8")
    assert lock_file(code) is None, "what lies above the project is not its lock file"
    (project / "requirements.txt").write_text("numpy==2.0", encoding="utf-8")
    (project / "uv.lock").write_text("numpy 2.0", encoding="utf-8")
    assert lock_file(code) == project / "uv.lock"
    before = surroundings(code)
    (project / "uv.lock").write_text("numpy 2.1", encoding="utf-8")
    assert surroundings(code)[LOCK] != before[LOCK]
    (project.parent / "uv.lock").unlink()


def test_code_without_imports_or_project_has_no_surroundings(tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_text("import math\n", encoding="utf-8")
    assert surroundings(tmp_path / "alone.py") == {}
    assert surroundings(None) == {}


WAYS = {
    "in a function": "def f():\n    import extra\n",
    "in a class": "class C:\n    import extra\n",
    "where an error is caught": "try:\n    import missing\nexcept ImportError:\n    import extra\n",
    "by importlib": "import importlib\nextra = importlib.import_module('extra')\n",
    "by importlib, late": "from importlib import import_module\ndef f():\n    return import_module('extra').SCALE\n",
    "by __import__": "extra = __import__('extra')\n",
    "by a name made up": "import importlib\nextra = importlib.import_module('ex' + 'tra')\n",
    "by a name from outside": "import importlib\ndef f(name):\n    return importlib.import_module(name)\n",
    "by its file": "import importlib.util as u\ns = u.spec_from_file_location('x', 'ext' + 'ra.py')\n",
    "by runpy": "import runpy\nrunpy.run_path('extra' + '.py')\n",
    "by exec": "exec(open('extra.py').read())\n",
    "through another": "import helper\n",
    "all names": "from extra import *\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_helper_is_covered_however_it_is_imported(tmp_path: Path, way: str) -> None:
    code = tmp_path / "mine.py"
    for name, text in {"mine.py": WAYS[way], "extra.py": "SCALE = 2\n", "helper.py": "def f():\n    import extra\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    before = surroundings(code)
    assert surroundings(code) == before
    (tmp_path / "extra.py").write_text("SCALE = 1\n", encoding="utf-8")
    assert surroundings(code) != before


def test_a_package_s_first_file_an_extension_and_a_relative_name_are_covered(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": "", "mine.py": "import tools.one\n", "tools/__init__.py": "from importlib import import_module\n"
        "two = import_module('.two', __name__)\n", "tools/one.py": "import fast\n", "tools/two.py": "",
        f"fast{EXTENSION_SUFFIXES[0]}": "machine code",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert imported_modules(tmp_path / "mine.py").keys() == {"tools", "tools.one", "tools.two", "fast"}


READING = {
    "open": "import json\nSCALE = json.load(open('scale.json'))\n",
    "with": "with open('scale.json') as file:\n    SCALE = file.read()\n",
    "beside the module": "from pathlib import Path\nSCALE = Path(__file__).with_name('scale.json').read_text()\n",
    "in parts": "from pathlib import Path\nSCALE = (Path(__file__).parent / 'conf' / 'scale.json').read_bytes()\n",
    "in a class": "import numpy as np\nclass C:\n    if True:\n        SCALE = np.loadtxt('scale.json')\n",
}


@pytest.mark.parametrize("way", READING)
def test_a_data_file_that_is_read_at_import_is_covered(tmp_path: Path, way: str) -> None:
    code = tmp_path / "mine.py"
    code.write_text(READING[way], encoding="utf-8")
    file = tmp_path / ("conf" if way == "in parts" else "") / "scale.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text("2", encoding="utf-8")
    before = surroundings(code)
    assert IMPORTS in before
    file.write_text("1", encoding="utf-8")
    assert surroundings(code) != before


def test_data_that_is_read_later_and_ledgers_are_not_code(tmp_path: Path) -> None:
    """They change from day to day, and a certificate does not end by that."""
    (tmp_path / "mine.py").write_text(
        "import dpaudit as dp\nLEDGER = 'today.ledger'\ndef f():\n    return open('data.csv').read()\n"
        "def g(model):\n    model.eval()\nif __name__ == '__main__':\n    print(open('data.csv').read())\n",
        encoding="utf-8",
    )
    for name in ("data.csv", "today.ledger", "other.py"):
        (tmp_path / name).write_text("", encoding="utf-8")
    assert imported_modules(tmp_path / "mine.py") == {}


def test_bytecode_and_extensions_beside_a_source_or_in_its_place_count_too(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import one, two\n", encoding="utf-8")
    (tmp_path / "one.py").write_text("X = 1\n", encoding="utf-8")
    before = surroundings(tmp_path / "mine.py")
    suffix = EXTENSION_SUFFIXES[0]
    (tmp_path / f"one{suffix}").write_bytes(b"an extension, which Python prefers")
    beside = surroundings(tmp_path / "mine.py")
    assert imported_modules(tmp_path / "mine.py").keys() == {"one", f"one one{suffix}"}
    (tmp_path / "two.pyc").write_bytes(b"bytecode without a source")
    without = surroundings(tmp_path / "mine.py")
    (tmp_path / "two.pyc").write_bytes(b"bytecode without a sourcf")
    assert len({each[IMPORTS] for each in (before, beside, without, surroundings(tmp_path / "mine.py"))}) == 4
