"""The one stylesheet of every page: light and dark, phone and paper."""

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #ffffff; --line: #d0d7de; --band: #f6f8fa;
  --good: #1a7f37; --bad: #cf222e; --open: #7d5300; --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa4af; --paper: #0d1117; --line: #30363d; --band: #161b22;
  --good: #3fb950; --bad: #ff7b72; --open: #e3b341; --link: #6cb6ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; font: 16px/1.55 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .5rem; padding-top: .8rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.6rem 0 .3rem; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
p { margin: .4rem 0; } .soft { color: var(--soft); }
.badge { display: inline-block; padding: 0 .55em; border-radius: 1em; border: 1px solid currentColor; font-size: .85em;
  font-weight: 600; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); } .open { color: var(--open); }
.roomy table { min-width: 44rem; }
.wide { overflow-x: auto; /* a shadow where a table goes on */
  background: linear-gradient(90deg, var(--paper) 30%, transparent) 0 0 / 3rem 100% no-repeat local,
  linear-gradient(270deg, var(--paper) 30%, transparent) 100% 0 / 3rem 100% no-repeat local,
  linear-gradient(90deg, #8888, transparent) 0 0 / .8rem 100% no-repeat scroll,
  linear-gradient(270deg, #8888, transparent) 100% 0 / .8rem 100% no-repeat scroll; }
.cards table { width: 100%; } .cards td:first-child { min-width: 9rem; }
.search { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 1rem 0 .2rem; }
.search[hidden] { display: none; } .search input { flex: 1 1 12rem; } .search output { color: var(--soft); }
.search input, .search select { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line);
  border-radius: 4px; padding: .25rem .5rem; max-width: 100%; }
tr[hidden] { display: none !important; } .chart a:hover text { text-decoration: underline; }
sub, sup { font-size: .75em; line-height: 0; white-space: nowrap; } .word { white-space: nowrap; }
.note { border-left: 3px solid var(--open); background: var(--band); padding: .4rem .8rem; margin: .6rem 0; }
.note code { background: none; padding: 0; } .warning { border-color: var(--bad); }
nav ul { list-style: none; margin: .3rem 0; padding: 0; } nav li { margin: .5rem 0; }
nav li a { display: inline-block; margin: 0 .7rem 0 0; }
.back { float: right; font-size: .85rem; font-weight: 400; } .label { color: var(--soft); margin: .9rem 0 0; }
table { border-collapse: collapse; overflow-wrap: break-word; font-size: .9rem; margin: .6rem 0;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
code, pre { font: .88em/1.5 ui-monospace, monospace; background: var(--band); border-radius: 4px; padding: .1em .3em; }
pre { padding: .6rem .8rem; white-space: pre-wrap; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
figure svg.chart { width: 100%; background: transparent; fill: currentColor; font: 13px system-ui, sans-serif; max-width: 30rem;
  overflow: visible; display: block; } .chart text { paint-order: stroke; stroke: var(--paper); stroke-width: 4px;
  stroke-linejoin: round; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 0 2rem; }
.charts figure { max-width: 30rem; break-inside: avoid; }
.bars { display: grid; grid-template-columns: auto minmax(3rem, 20rem) auto; justify-content: start; align-items: center;
  gap: .25rem .8rem; font-variant-numeric: tabular-nums; font-size: .9rem; margin: .6rem 0; }
.bar { height: .9rem; min-width: 2px; background: var(--link); border-radius: 2px; print-color-adjust: exact; }
.finding { border-left: 3px solid var(--line); padding-left: .8rem; margin: 1rem 0; } .finding ul { margin: .3rem 0;
  padding-left: 1.2rem; }
figcaption { color: var(--soft); font-size: .9rem; }
dl { display: grid; grid-template-columns: fit-content(13rem) minmax(0, 1fr); gap: .2rem 1rem; margin: .6rem 0; }
dl dl { margin: 0; font-size: .92em; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
@media screen and (prefers-color-scheme: dark) { figure svg:not(.chart) { filter: invert(.91) hue-rotate(180deg); } }
@media (max-width: 40rem) {
  dl { grid-template-columns: minmax(0, 1fr); } dt { margin-top: .3rem; }
  dl dl { grid-template-columns: fit-content(45%) minmax(0, 1fr); padding-left: .8rem; border-left: 2px solid var(--line); }
  dl dl dt { margin: 0; } .cards thead { display: none; }
  .cards tr { display: grid; grid-template-columns: 1fr auto; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .cards td { border: 0; padding: 0; grid-column: 1 / 3; } .cards td:nth-child(1) { grid-area: 1 / 1; }
  .cards td:nth-child(2) { color: var(--soft); } .cards td:nth-child(3) { grid-area: 1 / 2; } }
@media print {
  :root { --ink: #000; --soft: #444; --paper: #fff; --line: #bbb; --band: #fff; --good: #1a7f37; --bad: #cf222e; --open: #7d5300;
    --link: #000; color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10.5pt; } .back, .search { display: none; }
  tr, figure, .note { break-inside: avoid; }
  h2, .label { break-after: avoid; } thead { display: table-header-group; }
  .wide { overflow: visible; background: none; } .wide table { min-width: 0; max-width: 100%; }
  td, th { font-size: .66rem; padding: .1rem .2rem; overflow-wrap: anywhere; } th { overflow-wrap: break-word; }
  dl { grid-template-columns: fit-content(9rem) minmax(0, 1fr); } a { color: inherit; } }
"""
