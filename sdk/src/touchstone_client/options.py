"""Options that apply to the whole process."""

show_texts: bool = False  # whether tables in a notebook show texts at once; they may be abusive
