#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>

#include <nlohmann/json.hpp>

#include "eval/claims.h"
#include "eval/plot.h"
#include "eval/study_view.h"
#include "options/config.h"

namespace pgdlm {
namespace {

// Nothing is fetched: the page can be mailed.
constexpr const char* kStyle = R"(
body{font:16px/1.5 Charter,"Bitstream Charter","Iowan Old Style",Georgia,serif;color:#222;max-width:1080px;margin:3em auto;padding:0 1.5em}
h1,h2,h3,th,nav,summary,caption{font-family:Helvetica,Arial,sans-serif}
h1{font-size:1.7em;margin-bottom:.2em}h2{font-size:1.3em;margin-top:2.6em;border-top:1px solid #ccc;padding-top:1.2em}
h3{font-size:1em;margin:1.8em 0 .4em}.quiet{color:#666;font-size:.9em}
table{border-collapse:collapse;margin:1em 0 1.6em;font-size:.86em;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:.3em 0}
th{text-align:right;border-top:1.6px solid #222;border-bottom:1px solid #222;padding:.25em .7em;font-weight:600}
td{text-align:right;padding:.2em .7em}th.group{text-align:center;border-bottom:none}td.words,th.words{text-align:left;vertical-align:top}
tbody tr:last-child td{border-bottom:1.6px solid #222}td.best{font-weight:700}
.scroll,figure{overflow-x:auto}
figure{margin:1em 0}svg{max-width:none}summary{cursor:pointer;margin:.8em 0;color:#0072B2;font-size:.9em}
pre{background:#f6f6f4;padding:.8em 1em;font-size:.78em;overflow-x:auto}nav a{margin-right:1.2em;color:#0072B2}
)";

std::string details(const std::string& summary, const std::string& content) {
  return fmt::format("<details><summary>{}</summary><div class=\"scroll\">{}</div></details>\n", escape_html(summary),
                     content);
}

// The definition, and every choice of each cell.
std::string configuration(const FinishedStudy& study) {
  std::string lines;
  for (const FinishedCell& cell : study.cells)
    lines += fmt::format("{} {} {:g}: {}\n", study.study.panels[cell.cell.panel].name,
                         study.study.series[cell.cell.series], cell.cell.at, to_config(cell.cell.options));
  return fmt::format("<pre>{}</pre><pre>{}</pre>",
                     escape_html(nlohmann::ordered_json::parse(study.study.definition).dump(1)), escape_html(lines));
}

std::string percent_encoded(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("-._~/").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// The first text of each cell, for `pgdlm replay`.
std::string trace_links(const FinishedStudy& study, const Traces& traces) {
  std::string items;
  for (const FinishedCell& cell : study.cells) {
    std::error_code missing;
    if (traces.folder.empty() || !std::filesystem::exists(traces.folder / cell.trace, missing)) continue;
    items +=
        fmt::format("<li><a href=\"{}\">{} {} {:g}</a></li>", percent_encoded(traces.link + "/" + cell.trace.string()),
                    escape_html(study.study.panels[cell.cell.panel].name),
                    escape_html(study.study.series[cell.cell.series]), cell.cell.at);
  }
  return items.empty() ? ""
                       : details("Traces: the first text of each cell, for pgdlm replay", "<ul>" + items + "</ul>");
}

// Two curves of one figure against different axes have the same table.
bool shown_before(std::span<const FigureSpec> figures, std::size_t place) {
  return std::ranges::any_of(figures.first(place), [&](const FigureSpec& earlier) {
    return earlier.kind == FigureSpec::Kind::curve && figures[place].kind == earlier.kind &&
           earlier.y == figures[place].y;
  });
}

std::string section(const FinishedStudy& study, const Traces& traces) {
  const Study& s = study.study;
  std::string html = fmt::format("<section id=\"{0}\"><h2>{1}</h2>\n<p>{2}</p>\n", escape_html(s.name),
                                 escape_html(s.title), escape_html(s.about));
  html += fmt::format(
      "<p class=\"quiet\">Task {}, {} questions, {} text{} of each{}. Bars and ± are standard errors over questions{}. "
      "<code>pgdlm study {}</code></p>\n",
      escape_html(s.task), study.questions.size(), s.samples, s.samples == 1 ? "" : "s",
      s.repeats > 1 ? fmt::format(", {} times with other seeds", s.repeats) : "",
      s.repeats > 1 ? "; in tables against n or k, ± is the standard deviation over seeds" : "", escape_html(s.asked));
  for (std::size_t i = 0; i < s.figures.size(); ++i) {
    const FigureSpec& figure = s.figures[i];
    if (!figure.title.empty()) html += fmt::format("<h3>{}</h3>\n", escape_html(figure.title));
    if (const std::string svg = svg_of(study, figure); !svg.empty()) html += fmt::format("<figure>{}</figure>\n", svg);
    if (shown_before(s.figures, i)) continue;
    html += "<div class=\"scroll\">";
    for (const Table& table : tables_of(study, figure)) html += to_html(table);
    html += "</div>\n";
  }
  if (const Table claims = claims_of(study); !claims.rows.empty())
    html += "<h3>Claims, by paired differences</h3><div class=\"scroll\">" + to_html(claims) + "</div>\n";
  html += details("Every figure of every cell, with its cost", to_html(overview_of(study)));
  html += details("What it took here: forwards and rewards run, seconds", to_html(efforts_of(study)));
  html += trace_links(study, traces);
  html += details("Configuration", configuration(study));
  return html + "</section>\n";
}

}  // namespace

std::string html_report(const std::vector<FinishedStudy>& studies, const std::string& machine, const Traces& traces) {
  std::string nav, sections;
  for (const FinishedStudy& study : studies) {
    nav += fmt::format("<a href=\"#{0}\">{0}</a>", escape_html(study.study.name));
    sections += section(study, traces);
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>pgdlm report</title><style>{}</style></head>\n"
      "<body><h1>Particle Gibbs for diffusion language models</h1>\n"
      "<p class=\"quiet\">Made by pgdlm " PGDLM_VERSION " on {}.</p><nav>{}</nav>\n{}</body></html>\n",
      kStyle, escape_html(machine), nav, sections);
}

}  // namespace pgdlm
