"""The marks of a conversation with llada-nano-math. They are LLaDA's, so that its chat template applies unchanged."""

BOS, EOS, MASK, EOT = "<|startoftext|>", "<|endoftext|>", "<|mdm_mask|>", "<|eot_id|>"
HEADER_START, HEADER_END = "<|start_header_id|>", "<|end_header_id|>"
SPECIAL = [BOS, EOS, MASK, EOT, HEADER_START, HEADER_END]


def chat(question: str) -> str:
    """LLaDA-8B-Instruct's template, from the beginning of the text to where the answer starts."""
    return (f"{BOS}{HEADER_START}user{HEADER_END}\n\n{question}{EOT}"
            f"{HEADER_START}assistant{HEADER_END}\n\n")


# The same for programs that read templates: a turn each, then the assistant's opens.
CHAT_TEMPLATE = (f"{{{{ '{BOS}' }}}}{{% for message in messages %}}{{{{ '{HEADER_START}' + message['role'] + "
                 f"'{HEADER_END}\\n\\n' + message['content'] | trim + '{EOT}' }}}}{{% endfor %}}"
                 f"{{{{ '{HEADER_START}assistant{HEADER_END}\\n\\n' }}}}")
