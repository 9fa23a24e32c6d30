"""Do the tokens that your own attribution method points at matter? ICE compares with chance."""

from touchstone_client import Touchstone

text = "Honestly, those immigrants are ruining our lovely old town."
values = {"immigrants": 0.6, "ruining": 0.3, "lovely": 0.01}
starts = {word: text.index(word) for word in values}
spans = [{"start": at, "end": at + len(w), "value": values[w]} for w, at in starts.items()]
result = Touchstone().ice(model="embedded-hate", text=text, attributions=spans)
print(result.verdict, result.components.tests[0].win_rate)
