"""The style of the page, light and dark, wide and narrow."""

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f26; --soft: #5a6473; --back: #fbfbfc; --card: #ffffff; --line: #dfe3e9;
  --mark: #b3261e; --markback: #fdecea; --good: #1a7f4b; --blue: #2457c5; --code: #f4f5f7; --here: #2457c5; --there: #b98900;
  --k0: #2457c5; --k1: #0e7c86; --k2: #7a3fc0; --k3: #1a7f4b; --k4: #c2410c; --k5: #a16207; --k6: #b3261e; --k7: #6b7280;
  --k8: #be185d; --k9: #4d7c0f; --h0: #2457c5; --h1: #c2410c; --h2: #0e7c86; --h3: #a16207; --h4: #7a3fc0; --h5: #6b7280; --f0: #f7d9b5; --f1: #f3c48f; --f2: #f9e3c4; --f3: #efb57e; --fink: #3a2410; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaf0; --soft: #9ba6b5; --back: #12151a; --card: #1a1e25; --line: #313843;
  --mark: #ff9a8d; --markback: #3a1f1d; --good: #63d39a; --blue: #86aaff; --code: #12151a; --here: #86aaff; --there: #e3b341;
  --k0: #86aaff; --k1: #4fd0d8; --k2: #c39bff; --k3: #63d39a; --k4: #ff9b6a; --k5: #e3b341; --k6: #ff9a8d; --k7: #9ba6b5;
  --k8: #ff8fc1; --k9: #b5d667; --h0: #86aaff; --h1: #ff9b6a; --h2: #4fd0d8; --h3: #e3b341; --h4: #c39bff; --h5: #9ba6b5; --f0: #6b4a26; --f1: #7d5529; --f2: #5c4024; --f3: #8a5f2f; --fink: #fbe9d3; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.6rem 1.1rem 4rem; background: var(--back); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
header .brand { color: var(--soft); font-size: .85rem; letter-spacing: .02em; margin: 0 0 .4rem; }
h1 { font-size: clamp(1.25rem, 3.4vw, 1.75rem); line-height: 1.28; margin: 0 0 1rem; font-weight: 650; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .3rem; } p { margin: .35rem 0; } .soft { color: var(--soft); } small { color: var(--soft); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem; }
.tile, .finding, .chart { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.tile { padding: .6rem .8rem; } .tile b { display: block; font-size: 1.15rem; font-weight: 650; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: .82rem; }
.finding { margin: .8rem 0; border-left: 4px solid var(--mark); overflow: hidden; }
.finding > summary { cursor: pointer; padding: .7rem .95rem; list-style: none; display: flex; flex-wrap: wrap; gap: .2rem .6rem;
  align-items: baseline; } .finding > summary::-webkit-details-marker { display: none; }
.finding > div { padding: 0 .95rem .8rem; } .code { color: var(--mark); font-weight: 700; }
.where { color: var(--soft); font: 13px ui-monospace, Menlo, Consolas, monospace; margin-left: auto; }
code, pre { font: 13px/1.5 ui-monospace, Menlo, Consolas, monospace; }
pre { overflow-x: auto; margin: .5rem 0; padding: .5rem 0; background: var(--code); border: 1px solid var(--line); border-radius: 8px;
  overflow-wrap: normal; } pre span { display: block; padding: 0 .7rem; white-space: pre; width: max-content; min-width: 100%; }
pre .hit { background: var(--markback); color: var(--mark); font-weight: 600; }
.costs { display: grid; grid-template-columns: minmax(11.6rem, max-content) 1fr; gap: .2rem .7rem; align-items: center; margin: .5rem 0; font-size: .9rem; }
.bar { display: flex; align-items: center; gap: .5rem; } .bar i { height: .7rem; border-radius: 3px; display: block; min-width: 2px; }
.fix { border-left: 3px solid var(--good); padding-left: .6rem; } .forms { display: grid; grid-template-columns: 1fr 1fr; gap: .7rem; }
.forms > div { min-width: 0; } details.more > summary { color: var(--blue); cursor: pointer; font-size: .9rem; }
.chart { padding: .5rem .5rem .3rem; margin-top: .5rem; position: relative; } .chart svg { display: block; width: 100%; touch-action: pan-y; }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif; } svg .axis { stroke: var(--line); }
svg .label { fill: var(--ink); } .legend { display: flex; flex-wrap: wrap; gap: .25rem .9rem; font-size: .85rem; color: var(--soft); }
.legend i { display: inline-block; width: .75em; height: .75em; border-radius: 2px; margin-right: .35em; }
.tools { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; position: sticky; top: 0; z-index: 2; padding: .4rem 0;
  background: var(--back); font-size: .88rem; color: var(--soft); }
button { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 7px;
  padding: .2rem .65rem; cursor: pointer; min-height: 2rem; } button:hover { border-color: var(--blue); }
#tip { position: fixed; pointer-events: none; z-index: 9; background: var(--ink); color: var(--back); border-radius: 6px; font-size: 12.5px;
  padding: .25rem .5rem; max-width: 24rem; display: none; }
.notes { list-style: none; margin: .5rem 0; padding: 0; display: grid; gap: .6rem; } .notes li { background: var(--card); padding: .6rem .95rem;
  border: 1px solid var(--line); border-left: 4px solid var(--good); border-radius: 10px; }
.notes.later li { border-left-color: var(--there); }
.ending { border-left: 4px solid var(--mark); background: var(--markback); padding: .5rem .8rem; border-radius: 8px; margin: 0 0 1rem; }
.flow { display: flex; flex-wrap: wrap; gap: .4rem 0; align-items: stretch; margin: .5rem 0; }
.stage { background: var(--card); border: 1px solid var(--line); border-radius: 9px; padding: .45rem .7rem; font-size: .86rem; min-width: 8.5rem; }
.stage b { display: block; } .stage.slow { border: 2px solid var(--mark); background: var(--markback); } .stage.slow b { color: var(--mark); }
.arrow { align-self: center; color: var(--soft); padding: 0 .35rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; } td, th { text-align: left; padding: .3rem .5rem;
  border-bottom: 1px solid var(--line); vertical-align: top; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; } th { color: var(--soft); font-weight: 500; } .flame rect { cursor: pointer; stroke: var(--card); stroke-width: 1; }
.flame text { fill: var(--fink); pointer-events: none; }
@media (max-width: 40rem) { .forms { grid-template-columns: 1fr; } .where { margin-left: 0; width: 100%; } body { padding: 1rem .8rem 3rem; }
  .flow { flex-direction: column; } .arrow { transform: rotate(90deg); } .tiles { grid-template-columns: 1fr 1fr; }
  .costs { grid-template-columns: 1fr; gap: 0; } table, tbody, tr, td { display: block; width: auto; } th { display: none; }
  tr { border-bottom: 1px solid var(--line); padding: .35rem 0; } td { border: 0; padding: .1rem .2rem; }
  td.n { text-align: left; } td.n:empty { display: none; } td.n::before { content: attr(data-name) ": "; color: var(--soft); } }
"""
