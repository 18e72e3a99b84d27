#include "cli/help.h"

#include <sstream>

namespace pgdlm::cli {
namespace {

constexpr std::size_t kColumn = 28, kWidth = 100;

std::string row(std::string left, const std::string& sentence) {
  std::string line = "  " + std::move(left), text;
  if (line.size() + 1 > kColumn) {
    text = line + "\n";
    line.clear();
  }
  line.resize(kColumn - 1, ' ');
  std::istringstream words(sentence);
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > kWidth) {
      text += line + "\n";
      line.assign(kColumn - 1, ' ');
    }
    line += " " + word;
  }
  return text + line + "\n";
}

}  // namespace

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  const std::string type = option->get_type_name();
  return row(make_option_name(option, is_positional) + (type.empty() ? "" : " " + type), option->get_description());
}

std::string HelpFormatter::make_subcommand(const CLI::App* app) const {
  return row(app->get_name(), app->get_description());
}

const char* const kProgramFooter =
    "Examples:\n"
    "  pgdlm generate \"The movie\" --reward sentiment:positive\n"
    "  pgdlm generate --help\n"
    "Exit codes: 0 done, 1 failed, 2 invalid input, 130 interrupted (the best so far is printed).";

const char* const kGenerateFooter =
    "The text goes to standard output, a summary to standard error.\n"
    "--json prints one object: text, reward, candidates [{text, reward, log_weight}], log_z, seed, selection,\n"
    "selection_means, status, cost {forwards_asked, forwards_run, rewards_asked, rewards_run, seconds}, model, "
    "method,\n"
    "preset, particles, sweeps, particles_used; with --n-samples also samples [the same]. -inf, inf and nan are "
    "written as null.\n"
    "\n"
    "Examples:\n"
    "  pgdlm generate \"The movie\" --reward sentiment:positive             steer by SMC, return the best text\n"
    "  pgdlm generate \"The movie\" --reward sentiment:positive --method pg -k 8     particle Gibbs: four sweeps of 8\n"
    "  pgdlm generate \"The movie\" --reward sentiment:positive --method pg-adapt --threshold -0.01 --iterations 50\n"
    "  pgdlm generate --infill \"the [MASK:3] was [MASK:2] .\" --reward contains:plot\n"
    "  pgdlm generate \"This film\" --process llada --diffusion-block-length 8 --resample-every block --reward "
    "sentiment:negative\n"
    "  pgdlm generate \"I\" --reward sentiment:positive --trace run.jsonl && pgdlm replay run.jsonl\n"
    "  pgdlm generate --resume run.jsonl                                  go on after a crash or Ctrl-C";

const char* const kReplayFooter =
    "Examples:\n"
    "  pgdlm generate \"I\" --reward sentiment:positive --trace run.jsonl && pgdlm replay run.jsonl\n"
    "  pgdlm replay run.jsonl --delay 0 | less";

const char* const kConvertFooter =
    "Families: MDLM, LLaDA, Dream, BERT and RoBERTa (fill-mask, classifiers), Qwen2.5-Math-PRM; told by config.json.\n"
    "\n"
    "Examples:\n"
    "  pgdlm convert ~/LLaDA-8B-Instruct llada.gguf --type q8_0\n"
    "  pgdlm convert ~/mdlm-owt mdlm.gguf --tokenizer ~/gpt2\n"
    "  pgdlm models info llada.gguf";

const char* const kForwardFooter =
    "A denoiser gives logits [length, vocab] before any rule or shift, a classifier logits [1, labels], a process "
    "reward\n"
    "the probability at each step token [steps, 1].\n"
    "\n"
    "Examples:\n"
    "  pgdlm forward model.gguf --ids 0,31414,2 --ids 0,2 --out logits\n"
    "  pgdlm forward model.gguf --ids $(pgdlm tokenize model.gguf \"a text\" --special --ids) --out logits";

const char* const kModelsFooter =
    "Examples:\n"
    "  pgdlm models\n"
    "  pgdlm models info llada.gguf";

const char* const kTokenizeFooter =
    "Examples:\n"
    "  pgdlm tokenize llada.gguf \"What is 17 + 25?\"\n"
    "  pgdlm tokenize roberta.gguf \"It is <mask>.\" --special --ids";

const char* const kBenchFooter =
    "Examples:\n"
    "  pgdlm bench forward llada.gguf\n"
    "  pgdlm bench forward llada.gguf --batch 1,8 --length 256 --repeats 3";

const char* const kScoreFooter =
    "One number per text: log p(label) of a classifier; of a process reward the probability that the answer is right,\n"
    "joined over its steps as its file says, or prm:last, prm:min, prm:prod and prm:mean. --json prints one object per "
    "text: score, "
    "and\n"
    "labels {name: log p}, steps [p], or labels {term: score} of a sum.\n"
    "\n"
    "Examples:\n"
    "  pgdlm score --reward sentiment:positive \"What a film!\" \"What a waste of time.\"\n"
    "  pgdlm score --reward prm --prompt \"Ann has 3 apples and buys 4. How many?\" \"total: 3 + 4 = 7\"\n"
    "  pgdlm score --reward toxicity --json -f comments.txt";

const char* const kPerplexityFooter =
    "The figures are upper bounds: what a denoiser of masked diffusion promises about log p(text). Each text stands\n"
    "alone on its canvas, its length is given, and its closing token counts, though not as a character. Behind +- is\n"
    "the standard error over texts. --json prints one object: the figures, and of each text its characters, tokens,\n"
    "nats and their error over draws.\n"
    "\n"
    "Examples:\n"
    "  pgdlm perplexity -m mdlm.gguf -f held_out.txt\n"
    "  pgdlm perplexity -m toy \"The movie was great.\" --draws 64\n"
    "  pgdlm generate \"The movie\" --n-samples 8 | pgdlm perplexity -f -";

const char* const kEvalFooter =
    "TASK is a file of JSON lines {\"prompt\": \"...\", \"answer\": \"42\"}, or GSM8K's with \"question\". A reply is "
    "right if the\n"
    "number it ends with is the answer's. Sample j of question i has the seed seed + i * samples + j, whatever the "
    "method.\n"
    "Behind +- is the standard error over questions. `needed` counts different states and texts, whatever was saved "
    "by\n"
    "company.\n"
    "\n"
    "Every finished text is in the store at once. Interrupt it in any way: the same command goes on where it was.\n"
    "\n"
    "Examples:\n"
    "  pgdlm eval math -m llada-nano-math --method greedy\n"
    "  pgdlm eval math -m llada-nano-math --reward prm --method smc -k 8 --limit 50\n"
    "  pgdlm eval control -m mdlm-nano --reward sentiment:positive --samples 20 --repeats 3 -k 4\n"
    "  pgdlm eval gsm8k_test.jsonl -m llada.gguf --reward prm --method pg-adapt --threshold 0.95 --store gsm8k.db";

const char* const kStudyFooter =
    "A study is a JSON file: a task, ways of asking it, figures to draw and claims to check (docs/studies.md). Every\n"
    "finished text is in the store at once. Interrupt it in any way: the same command goes on where it was, and ends "
    "with\n"
    "the same tables.\n"
    "\n"
    "Examples:\n"
    "  pgdlm study --list\n"
    "  pgdlm study math --dry-run\n"
    "  pgdlm study math --limit 20 --store try.db       a quick look\n"
    "  pgdlm study math && pgdlm report math            the tables, then a page with figures\n"
    "  pgdlm study configs/paper/gsm8k.json             with LLaDA-8B and the PRM in a folder that PGDLM_MODELS names";

const char* const kReportFooter =
    "The page holds everything it shows. Bars are standard errors over questions.\n"
    "\n"
    "Examples:\n"
    "  pgdlm report\n"
    "  pgdlm report math control --store runs.db --out results.html --csv cells.csv --csv-texts texts.csv";

const char* const kServeFooter =
    "Answers what OpenAI's clients ask (/v1/completions, /v1/chat/completions, /v1/models), and more: docs/serve.md,\n"
    "/openapi.json. The page at / shows what happens. Options of generate are what a request does not say.\n"
    "Ctrl-C, or kill: no new requests, those that run are finished; once more ends at once.\n"
    "\n"
    "Examples:\n"
    "  pgdlm serve                                        all models there are, on this machine only\n"
    "  pgdlm serve -m llada-nano-math --reward prm --method smc -k 16     every answer is steered\n"
    "  pgdlm serve --host 0.0.0.0 --api-key $KEY --traces runs/\n"
    "  curl http://127.0.0.1:8080/v1/completions -d '{\"prompt\": \"The movie\", \"its\": {\"reward\": "
    "\"sentiment:positive\"}}'";

const char* const kRunsFooter =
    "Without a subcommand, one line for each run: its number, how much of it is done, when it was begun, what it is.\n"
    "\n"
    "Examples:\n"
    "  pgdlm runs\n"
    "  pgdlm runs export 3 > run3.csv\n"
    "  pgdlm runs export 3 --format jsonl --store gsm8k.db\n"
    "  pgdlm runs compare 3 4                 what run 3 gives more than run 4, question by question";

const char* const kJudgeFooter =
    "One line per text: its label, a tab and the label's probability. A judge is a model that no reward has seen: it\n"
    "tells better text from text that fooled its reward. --json prints one object with the log-odds of the second "
    "label.\n"
    "\n"
    "Examples:\n"
    "  pgdlm judge --list\n"
    "  pgdlm judge sentiment \"What a waste of time.\"\n"
    "  pgdlm generate \"The movie\" --reward sentiment:positive --n-samples 8 | pgdlm judge sentiment -f -";

}  // namespace pgdlm::cli
