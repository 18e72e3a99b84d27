#include "eval/table.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "eval/plot.h"
#include "text/utf8.h"

namespace pgdlm {
namespace {

std::size_t letters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(read_utf8(text).length);
  return count;
}

// Words stand to the left, figures to the right.
bool has_words(const Table& table, std::size_t column) {
  return std::ranges::any_of(table.rows, [&](const std::vector<std::string>& row) {
    return !row[column].empty() && std::isalpha(static_cast<unsigned char>(row[column].front())) != 0;
  });
}

// Each name over the middle of its columns.
std::string groups_line(const Table& table, const std::vector<std::size_t>& widths) {
  if (table.groups.empty()) return "";
  std::string line(widths[0], ' ');
  std::size_t column = 1;
  for (const Group& group : table.groups) {
    std::size_t room = 0;
    for (std::size_t i = 0; i < group.columns; ++i) room += 2 + widths[column++];
    const std::size_t name = std::min(letters(group.name), room), left = (room - name + 2) / 2;
    line += std::string(left, ' ') + group.name + std::string(room - name - std::min(left, room - name), ' ');
  }
  return line.erase(line.find_last_not_of(' ') + 1) + "\n";
}

bool is_best(const Table& table, std::size_t row, std::size_t column) {
  return !table.best.empty() && table.best[row][column];
}

}  // namespace

std::string to_text(const Table& table) {
  std::vector<std::vector<std::string>> lines = {table.head};
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    lines.push_back(table.rows[row]);
    for (std::size_t column = 0; column < table.head.size(); ++column)
      if (is_best(table, row, column)) lines.back()[column] += " *";
  }
  std::vector<std::size_t> widths(table.head.size());
  for (const std::vector<std::string>& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], letters(line[i]));
  std::string out = table.title.empty() ? "" : table.title + "\n";
  out += groups_line(table, widths);
  for (const std::vector<std::string>& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string fill(widths[i] - letters(line[i]), ' ');
      text += (i == 0 ? "" : "  ") + (has_words(table, i) ? line[i] + fill : fill + line[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

std::string to_html(const Table& table) {
  std::string out = "<table>";
  if (!table.title.empty()) out += "<caption>" + escape_html(table.title) + "</caption>";
  out += "<thead>";
  if (!table.groups.empty()) out += "<tr><th></th>";
  for (const Group& group : table.groups)
    out += fmt::format("<th class=\"group\" colspan=\"{}\">{}</th>", group.columns, escape_html(group.name));
  out += table.groups.empty() ? "<tr>" : "</tr><tr>";
  for (std::size_t i = 0; i < table.head.size(); ++i)
    out += fmt::format("<th{}>{}</th>", has_words(table, i) ? " class=\"words\"" : "", escape_html(table.head[i]));
  out += "</tr></thead><tbody>";
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    out += "<tr>";
    for (std::size_t column = 0; column < table.head.size(); ++column)
      out += fmt::format("<td class=\"{} {}\">{}</td>", has_words(table, column) ? "words" : "",
                         is_best(table, row, column) ? "best" : "", escape_html(table.rows[row][column]));
    out += "</tr>";
  }
  return out + "</tbody></table>\n";
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string to_csv(const Table& table) {
  const auto line = [](const std::vector<std::string>& fields) {
    std::string out;
    for (std::size_t i = 0; i < fields.size(); ++i) out += (i == 0 ? "" : ",") + csv_field(fields[i]);
    return out + "\n";
  };
  std::string out = line(table.head);
  for (const std::vector<std::string>& row : table.rows) out += line(row);
  return out;
}

}  // namespace pgdlm
