// Colours and strokes of the drawn roofline, light and dark.
#pragma once

#include <string_view>

namespace gputrace::report {

/// Text has a contrast of at least 6 to its ground, marks of at least 3. Print is light whatever
/// the screen: dark rules hold for screens only.
inline constexpr std::string_view kRooflineStyle = R"(<style>
svg{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;font-variant-numeric:tabular-nums}
.ground{fill:#fff}text{fill:#16191d}.muted{fill:#586069}.head{font-size:14px;font-weight:600}
.label{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
.grid{stroke:#e3e6ea}.axis{stroke:#586069}.roof,.badge{stroke:#16191d;fill:none}
.roof{stroke-width:2}.band{fill:#16191d;fill-opacity:.12}
.other{stroke:#586069;stroke-dasharray:6 4;fill:none}.ridge{stroke:#16191d;stroke-dasharray:1.5 3.5}
.meet{fill:#fff;stroke:#16191d}.point{fill:#0b57a4;stroke:#fff}.bar,.suspect{stroke:#0b57a4}
.suspect{fill:#fff;stroke-width:1.5}
.pmark{stroke:#fff}.pbar{stroke:#16191d;fill:none;opacity:.3}.lead{stroke:#586069}
.strong .pbar,.phase:hover .pbar,.phase:focus .pbar,.sel .pbar{opacity:1}
.plabel{font-weight:600}
@media screen and (prefers-color-scheme:dark){
.ground{fill:#14171c}text{fill:#e6e9ed}.muted{fill:#a2abb5}.label{stroke:#14171c}
.grid{stroke:#2a2f37}.axis,.other{stroke:#a2abb5}.roof,.badge,.ridge,.meet{stroke:#e6e9ed}
.band{fill:#e6e9ed}.meet,.suspect{fill:#14171c}.point{fill:#8cc2ff;stroke:#14171c}
.bar,.suspect{stroke:#8cc2ff}.pmark{stroke:#14171c}.pbar{stroke:#e6e9ed}.lead{stroke:#a2abb5}}
</style>
)";

}  // namespace gputrace::report
