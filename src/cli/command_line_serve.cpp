#include <cstdlib>

#include "cli/adder.h"
#include "cli/help.h"

namespace pgdlm::cli {
namespace {

void add_access(Adder add, ServeOptions& options) {
  add({"host", "", "where to listen; 0.0.0.0 is everywhere, and then a key is wise (127.0.0.1)", "HOST"}, options.host);
  add({"port", "", "0: any that is free (8080)"}, options.port);
  add({"api-key", "", "what clients must know, as OpenAI's do ($PGDLM_API_KEY)", "KEY"}, options.api_key);
  add.command
      .add_option("--allow-origin", options.allow_origin,
                  "an origin whose pages may ask too, such as http://localhost:3000; * is all of them")
      ->allow_extra_args(false)
      ->type_name("ORIGIN")
      ->group(add.title);
  add({"allow-exec", "", "clients may name rewards that run programs, ask servers or read files"}, options.allow_exec);
}

void add_limits(Adder add, ServeOptions& options) {
  add({"parallel", "", "requests at work at the same time; they share batches (64)"}, options.parallel);
  add({"queue", "", "requests that wait for them; more are told to come back later (256)"}, options.queue);
  add({"limit-tokens", "", "of one text (4096, and what the model can)"}, options.limit_tokens);
  add({"limit-particles", "", "of one text (256)"}, options.limit_particles);
  add({"limit-forwards", "", "of one text; it ends there with the best it has (1000000)"}, options.limit_forwards);
  add({"limit-seconds", "", "of one text, likewise (600)"}, options.limit_seconds);
  add({"max-body-mb", "", "megabytes of a request (8)"}, options.max_body_mb);
  add({"patience", "", "seconds for a request to arrive (30)"}, options.patience);
  add({"grace", "", "seconds that running requests have when the server is stopped (10)"}, options.grace);
}

template <class T>
void require(const char* field, T value, T least, T most) {
  if (!(value >= least && value <= most))
    bad_value(field, fmt::format("{}", value), fmt::format("{} to {}", least, most));
}

}  // namespace

void add_serve_command(CLI::App& app, ServeOptions& options) {
  CLI::App* serve = app.add_subcommand("serve", "Serve models over HTTP, as OpenAI does, with a live view.");
  Adder add{*serve, "Server"};
  serve
      ->add_option("-m,--model", options.models,
                   "a denoiser to serve; may be repeated, the first is the default (all there are)")
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->group(add.title);
  add_access(add, options);
  add({"traces", "", "a folder of traces to show, and to record in what asks for it", "FOLDER"}, options.traces);
  add({"store", "", "the studies to show (pgdlm-runs.db)", "FILE"}, options.store);
  add_patience(add, options.reward_patience);
  add_device_options(add, options.model);
  add.group("Limits of the server");
  add_limits(add, options);
  visit_options(options.generate, Except{{*serve, ""}, {"prompt", "infill", "messages", "model", "seed", "chat"}});
  serve->footer(kServeFooter);
  if (const char* key = std::getenv("PGDLM_API_KEY"); key != nullptr) options.api_key = key;
}

void check_serve_command(const ServeOptions& options) {
  require("port", options.port, 0, 65'535);
  require("parallel", options.parallel, 1, 100'000);
  require("queue", options.queue, 0, 1'000'000);
  require("limit-tokens", options.limit_tokens, 1, 1 << 20);
  require("limit-particles", options.limit_particles, 1, 100'000);
  require("limit-forwards", options.limit_forwards, std::int64_t{1}, std::int64_t{1} << 60);
  require("limit-seconds", options.limit_seconds, 0.001, 1e9);
  require("max-body-mb", options.max_body_mb, 1, 1024);
  require("patience", options.patience, 0.001, 86'400.0);
  require("grace", options.grace, 0.0, 86'400.0);
  check_patience(options.reward_patience);
  check_threads(options.model);
}

}  // namespace pgdlm::cli
