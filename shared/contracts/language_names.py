"""Display names of languages: sentences use `Korean (ko)`, fields of messages the code.

The names are the English names of ISO 639, shortened as in CLDR 47. They cover the languages that
`shared.text.language` distinguishes, and those to which it assigns others. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

EVERY = "every language"
_TABLE = """
ab Abkhazian|ace Acehnese|af Afrikaans|am Amharic|an Aragonese|ar Arabic|as Assamese|az Azerbaijani
ba Bashkir|bcl Central Bikol|be Belarusian|bg Bulgarian|bh Bihari|bn Bengali|bo Tibetan|br Breton
bs Bosnian|ca Catalan|ce Chechen|chr Cherokee|crh Crimean Tatar|cs Czech|cv Chuvash|cy Welsh
da Danish|de German|dv Divehi|dz Dzongkha|el Greek|en English|eo Esperanto|es Spanish|et Estonian
eu Basque|ext Extremaduran|fa Persian|ff Fula|fi Finnish|fo Faroese|fr French|fy Western Frisian
ga Irish|gcf Guadeloupean Creole|gcr Guianese Creole|gd Scottish Gaelic|gl Galician|gn Guarani
gom Goan Konkani|grc Ancient Greek|gu Gujarati|guw Gun|ha Hausa|hbo Ancient Hebrew|he Hebrew
hi Hindi|hr Croatian|ht Haitian Creole|hu Hungarian|hy Armenian|id Indonesian|ig Igbo|is Icelandic
it Italian|ja Japanese|jv Javanese|ka Georgian|kab Kabyle|kik Kikuyu|kk Kazakh|km Khmer|kn Kannada
ko Korean|ku Kurdish|ky Kyrgyz|la Latin|lb Luxembourgish|lg Ganda|lij Ligurian|ln Lingala|lo Lao
lt Lithuanian|lv Latvian|mg Malagasy|mk Macedonian|ml Malayalam|mn Mongolian|mr Marathi|ms Malay
mt Maltese|my Burmese|ne Nepali|nl Dutch|no Norwegian|nso Northern Sotho|oc Occitan|om Oromo|or Odia
os Ossetic|pa Punjabi|pcm Nigerian Pidgin|pl Polish|ps Pashto|pt Portuguese|qu Quechua|ro Romanian
ru Russian|rw Kinyarwanda|sa Sanskrit|sd Sindhi|se Northern Sami|sh Serbo-Croatian|si Sinhala
sk Slovak|sl Slovenian|sn Shona|so Somali|sq Albanian|sr Serbian|st Southern Sotho|sv Swedish
sw Swahili|ta Tamil|te Telugu|tg Tajik|th Thai|ti Tigrinya|tk Turkmen|tl Filipino|tr Turkish
tt Tatar|ug Uyghur|uk Ukrainian|ur Urdu|uz Uzbek|vec Venetian|vi Vietnamese|vo Volapük|wa Walloon
xh Xhosa|yi Yiddish|yo Yoruba|zh Chinese|zu Zulu|und undecided|zxx no language
"""
_ROWS = _TABLE.strip().replace("\n", "|").split("|")
NAMES = {code: name for code, _, name in (row.partition(" ") for row in _ROWS)}


def language_name(tag: str) -> str:
    """Return `Korean (ko)`, `Portuguese (pt-BR)`, `Hindi in Latin letters (hi-Latn)` and the like.

    An unknown BCP 47 tag stays unchanged; `*` is every language.
    """
    code, *rest = tag.lower().split("-")
    if tag == "*":
        return EVERY
    if code not in NAMES:
        return tag
    letters = " in Latin letters" if "latn" in rest else ""
    return f"{NAMES[code]}{letters} ({tag})"


def language_names(tags: Sequence[str], most: int | None = None) -> str:
    """Join the names of languages with commas. After `most` names, give only the number of the
    others."""
    shown = tags if most is None or len(tags) <= most + 1 else tags[:most]
    listed = ", ".join(map(language_name, shown))
    left = len(tags) - len(shown)
    return f"{listed} and {left} more" if left else listed
