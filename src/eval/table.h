// A table as text, as HTML and as CSV (which leaves groups out). Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pgdlm {

struct Group {  // a name over several columns
  std::string name;
  std::size_t columns = 0;
};

struct Table {
  std::string title;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  // as many fields as the head has
  std::vector<std::vector<bool>> best;         // the same shape or empty: fields to stress
  std::vector<Group> groups;                   // over the columns behind the first, or none
};

std::string to_text(const Table& table);  // columns aligned; the best fields have a star
std::string to_html(const Table& table);
std::string to_csv(const Table& table);  // as RFC 4180 has it, without the title
std::string csv_field(const std::string& text);

}  // namespace pgdlm
