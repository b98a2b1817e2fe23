"""Search in a table of a page, and a choice of rows by their badges: a few lines of script, nothing is asked of a network."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.report.document import Badge, Line, parts_of
from dpaudit.report.markup import Html, element

# Without a script the box stays hidden and all rows are shown.
SCRIPT = """
for (const box of document.querySelectorAll('.search')) {
  const rows = [...box.nextElementSibling.querySelectorAll('tbody tr')];
  const [find, pick, count] = [box.querySelector('input'), box.querySelector('select'), box.querySelector('output')];
  const show = () => {
    const words = find.value.toLowerCase().split(/\\s+/).filter(Boolean);
    let left = 0;
    for (const row of rows) {
      const mine = (row.dataset.words || '').split(' '), text = row.textContent.toLowerCase();
      row.hidden = !((pick.selectedIndex == 0 || mine.includes(pick.value)) && words.every(word => text.includes(word)));
      left += !row.hidden;
    }
    count.textContent = left + ' of ' + rows.length;
  };
  find.addEventListener('input', show);
  pick.addEventListener('change', show);
  box.hidden = false;
  show();
}
"""


def search_box(words: Sequence[str]) -> Html:
    """A field, a choice among the words, and how many rows are left."""
    options = [element("option", "all"), *(element("option", word, value=word) for word in words)]
    find = Html('<input type="search" placeholder="search" aria-label="search the table">')
    inside = [find, element("select", *options, aria_label="show only"), element("output")]
    return Html(element("div", *inside, class_="search").replace("<div", "<div hidden", 1))


def row_words(row: Sequence[Line]) -> str:
    """The texts of a row's badges, by which it is chosen."""
    return " ".join(part.text for cell in row for part in parts_of(cell) if isinstance(part, Badge))
