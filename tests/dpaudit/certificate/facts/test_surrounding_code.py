"""What a subject's code imports of its project, and its lock file, are part of what is certified."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpaudit.certificate.facts.surrounding_code import IMPORTS, LOCK, imported_modules, lock_file, surroundings


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
