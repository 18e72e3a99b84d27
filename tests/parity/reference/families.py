"""One tiny model per family, with the field and tensor names of the published one. Sizes differ from each other
wherever a converter or a network could mistake one for another."""

import torch

import bert
import dream
import llada
import mdlm_dit
import qwen2_prm
from tiny_tokenizers import LLADA, QWEN2, byte_level_bpe, word_piece


def with_decoder(tokenizer, settings):
    """tokenizer_config.json as recent versions of transformers write it."""
    tokens = {str(t["id"]): {k: v for k, v in t.items() if k != "id"} for t in tokenizer["added_tokens"]}
    return {"added_tokens_decoder": tokens} | settings


class Maker:
    """Random tensors: linear maps keep the size of their input times `gain`, norms are around 1, biases around 0."""

    def __init__(self, seed):
        self.random = torch.Generator().manual_seed(seed)
        self.weights = {}

    def put(self, name, *shape, scale, mean=0.0):
        self.weights[name] = torch.randn(*shape, generator=self.random, dtype=torch.float64) * scale + mean

    def linear(self, name, out, into, gain=1.0, bias=True):
        self.put(name + ".weight", out, into, scale=gain * into**-0.5)
        if bias:
            self.put(name + ".bias", out, scale=0.3)

    def norm(self, name, size, weight="weight", bias="bias"):
        self.put(f"{name}.{weight}", size, scale=0.3, mean=1.0)
        if bias:
            self.put(f"{name}.{bias}", size, scale=0.3)


SMALL = 0.03  # of embeddings, as in published models: the first norm divides by so little that its epsilon shows
SHARP = 1.5  # gain of queries and keys: scores of a size that makes attention look at something


def mdlm(m):
    tokenizer = byte_level_bpe(last=["<|endoftext|>"])
    vocab = 256 + 40 + 1 + 1  # the mask is the last id, and no token of the tokenizer
    d, cond, layers = 32, 16, 3
    config = {
        "_name_or_path": "kuleshov-group/mdlm-owt", "architectures": ["MDLM"],
        "auto_map": {"AutoConfig": "configuration_mdlm.MDLMConfig", "AutoModelForMaskedLM": "modeling_mdlm.MDLM"},
        "cond_dim": cond, "dropout": 0.1, "hidden_dim": d, "model_length": 48, "model_type": "mdlm", "n_blocks": layers,
        "n_heads": 2, "return_dict": False, "time_conditioning": False, "torch_dtype": "float32",
        "transformers_version": "4.38.2", "vocab_size": vocab}
    m.put("backbone.vocab_embed.embedding", vocab, d, scale=SMALL)
    m.linear("backbone.sigma_map.mlp.0", cond, 256, gain=1.4)
    m.linear("backbone.sigma_map.mlp.2", cond, cond)
    half = d // config["n_heads"] // 2
    m.weights["backbone.rotary_emb.inv_freq"] = 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    for i in range(layers):
        p = f"backbone.blocks.{i}."
        m.norm(p + "norm1", d, bias=None)
        m.linear(p + "attn_qkv", 3 * d, d, gain=SHARP, bias=False)
        m.linear(p + "attn_out", d, d, bias=False)
        m.norm(p + "norm2", d, bias=None)
        m.linear(p + "mlp.0", 4 * d, d, gain=2.0)
        m.linear(p + "mlp.2", d, 4 * d)
        m.linear(p + "adaLN_modulation", 6 * d, cond)
    m.norm("backbone.output_layer.norm_final", d, bias=None)
    m.linear("backbone.output_layer.linear", vocab, d, gain=3.0)
    m.linear("backbone.output_layer.adaLN_modulation", 2 * d, cond)
    return dict(config=config, tokenizer=tokenizer, forward=mdlm_dit.forward, mask=vocab - 1)


def llada_8b(m):
    specials = ["<|startoftext|>", "<|endoftext|>", "<|mdm_mask|>", "<|start_header_id|>", "<|end_header_id|>",
                "<|eot_id|>", "[CLS]", "[gMASK]", "<role>"]
    tokenizer = byte_level_bpe(outside=specials, split=LLADA)
    ids = {t["content"]: t["id"] for t in tokenizer["added_tokens"]}
    d, hidden, vocab, layers = 64, 96, 320, 2  # the vocabulary is padded, as the published one is
    config = {
        "activation_type": "silu", "alibi": False, "architectures": ["LLaDAModelLM"], "attention_dropout": 0.0,
        "attention_layer_norm": False,
        "auto_map": {"AutoConfig": "configuration_llada.LLaDAConfig", "AutoModel": "modeling_llada.LLaDAModelLM",
                     "AutoModelForCausalLM": "modeling_llada.LLaDAModelLM"},
        "bias_for_layer_norm": False, "block_group_size": 1, "block_type": "llama", "d_model": d, "embedding_size": vocab,
        "eos_token_id": ids["<|endoftext|>"], "flash_attention": False, "include_bias": False, "include_qkv_bias": False,
        "input_emb_norm": False, "layer_norm_type": "rms", "layer_norm_with_affine": True,
        "mask_token_id": ids["<|mdm_mask|>"], "max_sequence_length": 64, "mlp_hidden_size": hidden, "mlp_ratio": 4,
        "model_type": "llada", "multi_query_attention": None, "n_heads": 4, "n_kv_heads": 4, "n_layers": layers,
        "pad_token_id": ids["<|endoftext|>"], "precision": "amp_bf16", "rms_norm_eps": 1e-05, "rope": True,
        "rope_full_precision": True, "rope_theta": 500000.0, "scale_logits": False, "transformers_version": "4.46.3",
        "use_cache": False, "vocab_size": vocab, "weight_tying": False}
    m.put("model.transformer.wte.weight", vocab, d, scale=SMALL)
    for i in range(layers):
        p = f"model.transformer.blocks.{i}."
        m.norm(p + "attn_norm", d, bias=None)
        for name in ("q_proj", "k_proj", "v_proj", "attn_out"):
            m.linear(p + name, d, d, gain=SHARP if name in ("q_proj", "k_proj") else 1.0, bias=False)
        m.norm(p + "ff_norm", d, bias=None)
        m.linear(p + "ff_proj", hidden, d, gain=2.0, bias=False)
        m.linear(p + "up_proj", hidden, d, bias=False)
        m.linear(p + "ff_out", d, hidden, bias=False)
    m.norm("model.transformer.ln_f", d, bias=None)
    m.linear("model.transformer.ff_out", vocab, d, gain=3.0, bias=False)
    template = ("{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + "
                "message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 "
                "%}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}"
                "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}")
    settings = {"add_bos_token": False, "add_eos_token": False, "additional_special_tokens": ["<role>"],
                "bos_token": "<|startoftext|>", "chat_template": template, "clean_up_tokenization_spaces": False,
                "cls_token": "[CLS]", "eos_token": "<|endoftext|>", "fast_tokenizer": True, "gmask_token": "[gMASK]",
                "merges_file": None, "model_max_length": 1000000000000000019884624838656, "pad_token": "<|endoftext|>",
                "tokenizer_class": "PreTrainedTokenizerFast", "trust_remote_code": True, "vocab_file": None}
    return dict(config=config, tokenizer=tokenizer, settings=with_decoder(tokenizer, settings), forward=llada.forward,
                mask=config["mask_token_id"], dtype=torch.bfloat16)


def qwen2_layers(m, config):
    d, heads, kv = config["hidden_size"], config["num_attention_heads"], config["num_key_value_heads"]
    size = d // heads
    m.put("model.embed_tokens.weight", config["vocab_size"], d, scale=SMALL)
    for i in range(config["num_hidden_layers"]):
        p = f"model.layers.{i}."
        m.norm(p + "input_layernorm", d, bias=None)
        m.linear(p + "self_attn.q_proj", d, d, gain=SHARP)
        m.linear(p + "self_attn.k_proj", kv * size, d, gain=SHARP)
        m.linear(p + "self_attn.v_proj", kv * size, d)
        m.linear(p + "self_attn.o_proj", d, d, bias=False)
        m.norm(p + "post_attention_layernorm", d, bias=None)
        m.linear(p + "mlp.gate_proj", config["intermediate_size"], d, gain=2.0, bias=False)
        m.linear(p + "mlp.up_proj", config["intermediate_size"], d, bias=False)
        m.linear(p + "mlp.down_proj", d, config["intermediate_size"], bias=False)
    m.norm("model.norm", d, bias=None)


CHATML = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + "
          "'\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")


def dream_7b(m):
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|beginoftext|>", "<|mask|>"]
    tokenizer = byte_level_bpe(outside=specials, split=QWEN2)
    ids = {t["content"]: t["id"] for t in tokenizer["added_tokens"]}
    config = {
        "architectures": ["DreamModel"], "attention_dropout": 0.0,
        "auto_map": {"AutoConfig": "configuration_dream.DreamConfig", "AutoModel": "modeling_dream.DreamModel"},
        "bos_token_id": ids["<|endoftext|>"], "eos_token_id": ids["<|endoftext|>"], "hidden_act": "silu",
        "hidden_size": 64, "initializer_range": 0.02, "intermediate_size": 96, "mask_token_id": ids["<|mask|>"],
        "max_position_embeddings": 128, "max_window_layers": 28, "model_type": "Dream", "num_attention_heads": 4,
        "num_hidden_layers": 2, "num_key_value_heads": 2, "pad_token_id": ids["<|endoftext|>"], "rms_norm_eps": 1e-06,
        "rope_scaling": None, "rope_theta": 1000000.0, "sliding_window": None, "tie_word_embeddings": False,
        "torch_dtype": "float32", "transformers_version": "4.46.2", "use_cache": True, "use_mrope": False,
        "use_sliding_window": False, "vocab_size": 304}
    qwen2_layers(m, config)
    m.linear("lm_head", config["vocab_size"], 64, gain=3.0, bias=False)
    settings = {"bos_token": "<|beginoftext|>", "eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>",
                "mask_token": "<|mask|>", "unk_token": None, "add_bos_token": False, "add_prefix_space": False,
                "chat_template": CHATML, "tokenizer_class": "DreamTokenizer"}
    names = {k: {"content": v, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
             for k, v in settings.items() if k in ("bos_token", "eos_token", "mask_token", "pad_token")}
    return dict(config=config, tokenizer=tokenizer, tokenizer_files="vocab.json", special_tokens=names,
                settings=with_decoder(tokenizer, settings), forward=dream.forward, mask=config["mask_token_id"], shards=2)


def qwen2_math_prm(m):
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<extra_0>", "<extra_1>"]
    tokenizer = byte_level_bpe(outside=specials, split=QWEN2, merges=24)
    ids = {t["content"]: t["id"] for t in tokenizer["added_tokens"]}
    d, vocab = 64, 288
    config = {
        "architectures": ["Qwen2ForProcessRewardModel"], "attention_dropout": 0.0,
        "auto_map": {"AutoConfig": "configuration_qwen2_rm.Qwen2RMConfig",
                     "AutoModel": "modeling_qwen2_rm.Qwen2ForProcessRewardModel"},
        "bos_token_id": ids["<|endoftext|>"], "eos_token_id": ids["<|im_end|>"], "hidden_act": "silu", "hidden_size": d,
        "initializer_range": 0.02, "intermediate_size": 128, "max_position_embeddings": 96, "max_window_layers": 28,
        "model_type": "qwen2", "num_attention_heads": 4, "num_hidden_layers": 2, "num_key_value_heads": 1,
        "pad_token_id": ids["<|endoftext|>"], "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": 4096,
        "tie_word_embeddings": False, "torch_dtype": "bfloat16", "transformers_version": "4.37.0", "use_cache": True,
        "use_sliding_window": False, "vocab_size": vocab}
    qwen2_layers(m, config)
    m.linear("score.0", d, d, gain=2.0)
    m.linear("score.2", 2, d, gain=3.0)
    m.linear("lm_head", vocab, d, bias=False)  # in the file, and never used
    settings = {"bos_token": None, "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "unk_token": None,
                "add_bos_token": False, "add_prefix_space": False, "chat_template": CHATML,
                "tokenizer_class": "Qwen2Tokenizer"}
    step = ids["<extra_0>"]
    return dict(config=config, tokenizer=tokenizer, settings=with_decoder(tokenizer, settings), step=step,
                dtype=torch.bfloat16,
                forward=lambda w, c, row: qwen2_prm.forward(w, c, row, step))


def bert_layers(m, config, names=("weight", "bias"), embedding=SMALL):
    root, d, ff = config["model_type"], config["hidden_size"], config["intermediate_size"]
    p = root + ".embeddings."
    m.put(p + "word_embeddings.weight", config["vocab_size"], d, scale=embedding)
    m.put(p + "position_embeddings.weight", config["max_position_embeddings"], d, scale=embedding)
    m.put(p + "token_type_embeddings.weight", config["type_vocab_size"], d, scale=embedding / 2)
    m.norm(p + "LayerNorm", d, *names)
    for i in range(config["num_hidden_layers"]):
        p = f"{root}.encoder.layer.{i}."
        for name in ("query", "key", "value"):
            m.linear(p + "attention.self." + name, d, d, gain=1.0 if name == "value" else SHARP)
        m.linear(p + "attention.output.dense", d, d)
        m.norm(p + "attention.output.LayerNorm", d, *names)
        m.linear(p + "intermediate.dense", ff, d, gain=1.5)
        m.linear(p + "output.dense", d, ff)
        m.norm(p + "output.LayerNorm", d, *names)
    m.linear(root + ".pooler.dense", d, d, gain=1.5)


def roberta_config(architecture, tokenizer, **more):
    return {
        "architectures": [architecture], "attention_probs_dropout_prob": 0.1, "bos_token_id": 0,
        "classifier_dropout": None, "eos_token_id": 2, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 32,
        "initializer_range": 0.02, "intermediate_size": 96, "layer_norm_eps": 1e-05, "max_position_embeddings": 42,
        "model_type": "roberta", "num_attention_heads": 2, "num_hidden_layers": 2, "pad_token_id": 1,
        "position_embedding_type": "absolute", "transformers_version": "4.30.0", "type_vocab_size": 1, "use_cache": True,
        "vocab_size": max(t["id"] for t in tokenizer["added_tokens"]) + 1} | more


def roberta_tokenizer(merges_as_pairs):
    def post(ids):
        return {"type": "RobertaProcessing", "sep": ["</s>", ids["</s>"]], "cls": ["<s>", ids["<s>"]],
                "trim_offsets": True, "add_prefix_space": False}
    return byte_level_bpe(first=["<s>", "<pad>", "</s>", "<unk>"], last=["<mask>"], post=post,
                          merges_as_pairs=merges_as_pairs, options={"<mask>": {"lstrip": True}})


ROBERTA = {"bos_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "cls_token": "<s>", "unk_token": "<unk>",
           "pad_token": "<pad>", "mask_token": "<mask>", "add_prefix_space": False, "tokenizer_class": "RobertaTokenizer"}


def roberta_classifier(m):
    """With the files of cardiffnlp/twitter-roberta-base-sentiment: no tokenizer.json, labels without names."""
    tokenizer = roberta_tokenizer(merges_as_pairs=False)
    labels = [f"LABEL_{i}" for i in range(3)]
    config = roberta_config("RobertaForSequenceClassification", tokenizer, gradient_checkpointing=False,
                            id2label={str(i): n for i, n in enumerate(labels)},
                            label2id={n: i for i, n in enumerate(labels)})
    bert_layers(m, config)  # also an unused pooler, as in old files
    m.weights["roberta.embeddings.position_ids"] = torch.arange(config["max_position_embeddings"]).unsqueeze(0)
    m.linear("classifier.dense", 32, 32, gain=1.5)
    m.linear("classifier.out_proj", 3, 32, gain=3.0)
    names = {k: v for k, v in ROBERTA.items() if k.endswith("_token")}
    return dict(config=config, tokenizer=tokenizer, tokenizer_files="vocab.json", special_tokens=names, torch_form="new",
                forward=bert.classify, around=(0, 2))


def roberta_fill_mask(m):
    tokenizer = roberta_tokenizer(merges_as_pairs=True)
    config = roberta_config("RobertaForMaskedLM", tokenizer, num_hidden_layers=3)
    bert_layers(m, config, embedding=0.5)  # it is the output matrix, too
    m.linear("lm_head.dense", 32, 32, gain=1.5)
    m.norm("lm_head.layer_norm", 32)
    m.put("lm_head.bias", config["vocab_size"], scale=0.5)
    return dict(config=config, tokenizer=tokenizer, settings=with_decoder(tokenizer, ROBERTA), forward=bert.fill_mask,
                around=(0, 2),
                mask=config["vocab_size"] - 1)


def bert_config(architecture, tokenizer, **more):
    return {
        "architectures": [architecture], "attention_probs_dropout_prob": 0.1, "gradient_checkpointing": False,
        "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 32, "initializer_range": 0.02,
        "intermediate_size": 96, "layer_norm_eps": 1e-12, "max_position_embeddings": 40, "model_type": "bert",
        "num_attention_heads": 2, "num_hidden_layers": 2, "pad_token_id": 0, "position_embedding_type": "absolute",
        "transformers_version": "4.6.0.dev0", "type_vocab_size": 2, "use_cache": True,
        "vocab_size": len(tokenizer["model"]["vocab"])} | more


BERT = {"do_lower_case": True, "unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]",
        "mask_token": "[MASK]", "tokenizer_class": "BertTokenizer"}


def bert_classifier(m):
    """With the weights and the config of an upload from 2020, such as those of textattack: no id2label."""
    tokenizer = word_piece()
    config = bert_config("BertForSequenceClassification", tokenizer, finetuning_task="cola")
    bert_layers(m, config)
    m.linear("classifier", 2, 32, gain=3.0)
    return dict(config=config, tokenizer=tokenizer, settings=with_decoder(tokenizer, BERT), forward=bert.classify,
                around=(2, 3), torch_form="old")


def bert_fill_mask(m):
    tokenizer = word_piece()
    config = bert_config("BertForMaskedLM", tokenizer)
    bert_layers(m, config, names=("gamma", "beta"), embedding=0.5)  # bert-base-uncased is that old
    m.linear("cls.predictions.transform.dense", 32, 32, gain=1.5)
    m.norm("cls.predictions.transform.LayerNorm", 32, "gamma", "beta")
    m.put("cls.predictions.bias", config["vocab_size"], scale=0.5)
    m.linear("cls.seq_relationship", 2, 32)
    return dict(config=config, tokenizer=tokenizer, settings=BERT, forward=bert.fill_mask, around=(2, 3), mask=4,
                tokenizer_files="vocab.txt", dtype=torch.float16)


FAMILIES = {"mdlm": mdlm, "llada": llada_8b, "dream": dream_7b, "qwen2-prm": qwen2_math_prm,
            "roberta-classifier": roberta_classifier, "roberta-fill-mask": roberta_fill_mask,
            "bert-classifier": bert_classifier, "bert-fill-mask": bert_fill_mask}
