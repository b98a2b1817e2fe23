"""`python -m benchmarks.demo_picture`: the demo's table of README.md as docs/demo.svg, the picture at its top."""

from __future__ import annotations

import io
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README, PLACE = ROOT / "README.md", ROOT / "docs" / "demo.svg"
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


def table(readme: str) -> str:
    """Title and table of the demo as README.md shows them, which a test holds to what it prints; without the reasons below."""
    shown = readme.split("<!-- demo -->\n```\n", 1)[1].split("```", 1)[0]
    return "\n\n".join(shown.strip().split("\n\n")[:2])


def main() -> None:
    PLACE.write_text(picture(table(README.read_text(encoding="utf-8"))) + "\n", encoding="utf-8")
    print(f"{PLACE.name}: {PLACE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
