"""`python -m benchmarks.demo_picture`: what `dpaudit demo` prints on a terminal, as docs/demo.svg, the picture of the README."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

PLACE = Path(__file__).parents[1] / "docs" / "demo.svg"
TONES = {"refuted": "bold red", "certified": "bold green", "unproven": "bold yellow"}
LONGEST = 118  # columns of the picture; the reasons below the table are left out


def picture(shown: str) -> str:
    """The table as SVG: verdicts in their colours, nothing that is loaded from elsewhere."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=LONGEST, file=io.StringIO())
    console.print(Text("$ dpaudit demo", style="bold"))
    for line in shown.splitlines():
        text = Text(line[:LONGEST])
        for word, tone in TONES.items():
            text.highlight_words([word], tone)
        console.print(text)
    svg = console.export_svg(title="dpaudit demo", font_aspect_ratio=0.61)
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # files of a network: the reader's own fonts serve as well


def table(output: str) -> str:
    """Title and table of the demo: all until the list of reasons."""
    parts = output.strip().split("\n\n")
    return "\n\n".join(parts[:2])


def main() -> None:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": str(LONGEST)}
    command = [str(Path(sys.executable).with_name("dpaudit")), "demo"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    PLACE.write_text(picture(table(done.stdout)) + "\n", encoding="utf-8")
    print(f"{PLACE.name}: {len(PLACE.read_text(encoding='utf-8'))} characters")


if __name__ == "__main__":
    main()
