// The names of choices on the command line and in JSON. They stay.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "pgdlm/answer.h"
#include "pgdlm/plan.h"
#include "pgdlm/processes.h"

namespace pgdlm {

enum class Process { mdlm, remdm, llada, dream };

template <class E>
struct Named {
  std::string_view name;
  E value;
};

template <class E>
inline constexpr std::array<Named<E>, 0> kNames{};  // every choice below has its own

template <>
inline constexpr auto kNames<Process> = std::to_array<Named<Process>>(
    {{"mdlm", Process::mdlm}, {"remdm", Process::remdm}, {"llada", Process::llada}, {"dream", Process::dream}});
template <>
inline constexpr auto kNames<Method> = std::to_array<Named<Method>>({{"greedy", Method::greedy},
                                                                     {"bon", Method::best_of_n},
                                                                     {"smc", Method::smc},
                                                                     {"pg", Method::particle_gibbs},
                                                                     {"pg-adapt", Method::particle_gibbs_adaptive}});
template <>
inline constexpr auto kNames<Preset> =
    std::to_array<Named<Preset>>({{"exact", Preset::exact}, {"paper", Preset::paper}, {"fk", Preset::fk}});
template <>
inline constexpr auto kNames<Estimator> = std::to_array<Named<Estimator>>(
    {{"random", Estimator::random}, {"beam", Estimator::beam}, {"prefix", Estimator::prefix}});
template <>
inline constexpr auto kNames<Start> =
    std::to_array<Named<Start>>({{"sampled", Start::sampled}, {"greedy", Start::greedy}, {"smc", Start::smc}});
template <>
inline constexpr auto kNames<Selection> = std::to_array<Named<Selection>>({{"draw", Selection::draw},
                                                                           {"paper", Selection::paper},
                                                                           {"argmax-last", Selection::argmax_last},
                                                                           {"argmax-all", Selection::argmax_all}});
template <>
inline constexpr auto kNames<Potential> = std::to_array<Named<Potential>>(
    {{"diff", Potential::diff}, {"max", Potential::max}, {"add", Potential::add}, {"rt", Potential::rt}});
template <>
inline constexpr auto kNames<Nucleus> =
    std::to_array<Named<Nucleus>>({{"usual", Nucleus::usual}, {"remdm", Nucleus::remdm}});
template <>
inline constexpr auto kNames<RemdmSchedule> =
    std::to_array<Named<RemdmSchedule>>({{"cap", RemdmSchedule::cap},
                                         {"rescale", RemdmSchedule::rescale},
                                         {"conf", RemdmSchedule::conf},
                                         {"loop", RemdmSchedule::loop},
                                         {"forward-backward", RemdmSchedule::forward_backward}});
template <>
inline constexpr auto kNames<Remasking> =
    std::to_array<Named<Remasking>>({{"low_confidence", Remasking::low_confidence}, {"random", Remasking::random}});
template <>
inline constexpr auto kNames<DreamOrder> =
    std::to_array<Named<DreamOrder>>(  // in the order of llama-diffusion-cli's numbers
        {{"origin", DreamOrder::origin},
         {"entropy", DreamOrder::entropy},
         {"margin", DreamOrder::topk_margin},
         {"random", DreamOrder::random},
         {"confidence", DreamOrder::maskgit_plus}});
template <>
inline constexpr auto kNames<Status> = std::to_array<Named<Status>>({{"done", Status::done},
                                                                     {"degenerate", Status::degenerate},
                                                                     {"budget_spent", Status::budget_spent},
                                                                     {"cancelled", Status::cancelled}});

template <class E>
std::string name_of(E value) {
  for (const Named<E>& named : kNames<E>)
    if (named.value == value) return std::string(named.name);
  return "?";
}

}  // namespace pgdlm
