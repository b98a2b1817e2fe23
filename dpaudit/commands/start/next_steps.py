"""``dpaudit`` alone: what to do next, by what the folder holds."""

from __future__ import annotations

from pathlib import Path

MOST = 3  # files that are named
LINES = 2000  # of a file that are looked at


def next_steps(folder: Path | None = None) -> str:
    """A few commands, the first of them the next one."""
    from dpaudit.claims import DpauditError
    from dpaudit.gate.policy import read_config

    place = folder or Path.cwd()
    try:
        budgets = len(read_config(place).budgets)
        broken = ""
    except DpauditError as error:
        budgets, broken = 0, str(error)
    steps: list[tuple[str, str]] = []
    if budgets:
        steps.append(("dpaudit check", f"hold the {budgets} budget{'s' * (budgets > 1)} of pyproject.toml"))
    elif not broken:
        steps.append(("dpaudit init", "an example subject, its budget, a test and a workflow in this folder; runs the gate once"))
    steps += [(f"dpaudit audit {file}", "certified, refuted or unproven") for file in _subject_files(place)]
    steps += [(f"dpaudit account {file.name}", "what its releases cost") for file in sorted(place.glob("*.ledger"))[:MOST]]
    steps += [
        ("dpaudit demo", "a paper's three algorithms, proven and attacked"),
        ("dpaudit doctor", "is this machine fit for it?"),
        ("dpaudit explain", "the rules"),
        ("dpaudit --help", "all commands"),
    ]
    width = max(len(command) for command, _ in steps)
    head = f"first mend {broken}" if broken else "dpaudit: pytest for privacy claims. What next:"
    return "\n".join([head, "", *(f"  {command:<{width}}  {why}" for command, why in steps)])


def _subject_files(place: Path) -> list[str]:
    """Files of this folder, or one below, that declare a subject."""
    found = []
    for file in sorted([*place.glob("*.py"), *place.glob("[!.]*/*.py")]):
        try:
            with file.open(encoding="utf-8") as lines:
                declares = any(line.startswith("@dp.subject(") for _, line in zip(range(LINES), lines, strict=False))
        except (OSError, UnicodeDecodeError):
            continue
        if declares:
            found.append(str(file.relative_to(place)))
        if len(found) == MOST:
            break
    return found
