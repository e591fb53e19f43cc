// Colours and strokes of drawn benches, light and dark.
#pragma once

#include <string_view>

namespace gputrace::report {

/// Inks are those of the classes in reports, which people with any colour vision can tell apart;
/// dashes and marks differ as well. Print is light whatever the screen.
inline constexpr std::string_view kBenchPlotStyle = R"(<style>
.bench{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums;
--i0:#2237b2;--i1:#cc7404;--i2:#147aa5;--i3:#740968;--i4:#26a78b;--i5:#4a4707;--i6:#995356;--i7:#5a6069;--bg:#fff;--fg:#16191d}
.bench .ground{fill:var(--bg)}.bench text{fill:var(--fg)}.bench .muted{fill:#586069}.bench .head{font-size:14px;font-weight:600}
.bench .grid{stroke:#e3e6ea}.bench .axis{stroke:#586069}.bench .level{fill:#16191d;fill-opacity:.1}
.bench .levelline{stroke:#586069;stroke-dasharray:1.5 3}.bench .leveltext{font-size:11px}
.bench .leveltext,.bench .halo{paint-order:stroke;stroke:var(--bg);stroke-width:3px;stroke-linejoin:round}
.bench .curve{fill:none;stroke-width:1.8;stroke-linejoin:round}.bench .spread{stroke:none;fill-opacity:.16}
.bench .whisker{stroke:var(--fg)}.bench .badge{fill:none;stroke:var(--fg)}.bench .cell{fill:var(--i0)}.bench .hollow{fill:var(--bg)}
.bench .s0{stroke:var(--i0)}.bench .s1{stroke:var(--i1);stroke-dasharray:7 3}.bench .s2{stroke:var(--i2);stroke-dasharray:2 2}
.bench .s3{stroke:var(--i3);stroke-dasharray:9 3 2 3}.bench .s4{stroke:var(--i4);stroke-dasharray:4 2}
.bench .s5{stroke:var(--i5);stroke-dasharray:1.5 3.5}.bench .s6{stroke:var(--i6);stroke-dasharray:12 4}
.bench .s7{stroke:var(--i7);stroke-dasharray:6 2 1 2 1 2}
.bench .f0{fill:var(--i0)}.bench .f1{fill:var(--i1)}.bench .f2{fill:var(--i2)}.bench .f3{fill:var(--i3)}
.bench .f4{fill:var(--i4)}.bench .f5{fill:var(--i5)}.bench .f6{fill:var(--i6)}.bench .f7{fill:var(--i7)}
@media screen and (prefers-color-scheme:dark){
.bench{--i0:#0767d7;--i1:#bf3401;--i2:#25a6d3;--i3:#8d5789;--i4:#6ae3b6;--i5:#f7c01a;--i6:#fc656a;--i7:#aab1bb;--bg:#14171c;--fg:#e6e9ed}
.bench .muted{fill:#a2abb5}.bench .grid{stroke:#2a2f37}.bench .axis,.bench .levelline{stroke:#a2abb5}
.bench .level{fill:#e6e9ed}}
</style>
)";

}  // namespace gputrace::report
