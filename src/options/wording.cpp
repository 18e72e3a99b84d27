#include "options/wording.h"

#include <array>
#include <string_view>
#include <utility>

namespace pgdlm {

std::string with_option_names(std::string message) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kNames = {
      {{"llada.block_length", "diffusion-block-length"},
       {"dream.alg_temp", "diffusion-alg-temp"},
       {"dream.eps", "diffusion-eps"},
       {"steps", "diffusion-steps"},
       {"remdm.eta", "eta"},
       {"remdm.t_on", "remdm-t-on"},
       {"remdm.t_off", "remdm-t-off"},
       {"remdm.alpha_on", "remdm-alpha-on"},
       {"temperature", "temp"},
       {"top_p", "top-p"},
       {"top_k", "top-k"}}};
  const std::size_t end = message.find(" is ");
  if (end == std::string::npos) return message;
  const std::string_view field = std::string_view(message).substr(0, end);
  const std::string_view bare = field.substr(field.find('.') + 1);  // the filter's fields are the same in all processes
  for (const auto& [name, option] : kNames)
    if (name == field || name == bare) return std::string(option) + message.substr(end);
  return message;
}

}  // namespace pgdlm
