"""`python -m benchmarks.demo_picture`: docs/demo.svg, the demo's table of docs/paper.md, for the top of README.md."""

from __future__ import annotations

import io
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAPER, PLACE = ROOT / "docs" / "paper.md", ROOT / "docs" / "demo.svg"
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


def table(page: str) -> str:
    """Title and table of the demo as docs/paper.md shows them, which a test holds to what it prints; not the reasons below."""
    shown = page.split("<!-- demo -->\n```\n", 1)[1].split("```", 1)[0]
    return "\n\n".join(shown.strip().split("\n\n")[:2])


def main() -> None:
    PLACE.write_text(picture(table(PAPER.read_text(encoding="utf-8"))) + "\n", encoding="utf-8")
    print(f"{PLACE.name}: {PLACE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
