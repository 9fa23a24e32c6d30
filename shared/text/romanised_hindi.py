"""Detects Hindi in Latin letters by its function words, because no language library knows it.

The lists have pronouns, postpositions, auxiliaries and particles in their usual spellings. Urdu in
Latin letters shares them. A text is Hindi if at least three of ten of its different words are
function words. At least two function words are needed, and one of them must occur in no other
language (used by `shared.text.language`). Source: our own list of closed word classes. Measured
(`python -m bench.language`): Hindi is found in 131 of 150 posts. It is also found in one of 2,000
annotated English tweets. It is found in none of 3,728 English posts of HateCheck and 2,171 posts in
other languages."""

from __future__ import annotations

_ITS_OWN = """
hai hain hoon hei hoga hogi honge hota hote hoti hona hua hui hue raha rahe rahi rahna rehna rehta
rehte rehti raho gaya gayi gaye diya kiya karna karne karo kare karte karta karti karke karega
karegi karenge karu karun karoon chahiye chahie chaahiye chahta chahte chahti sakta sakte sakti
padta padega dete deta deti denge leta lete lagta lagte lagti jata jaata jaate jaati jaana jao
jaao jayega jaayega jayenge jaayenge aata aate aati kaha kahna kehna kehta kehte kahte bolo dekho
bana bani banne milta milte milna dijiye kijiye rakhte rakhna samajhte samajhta nahi nahin nahee
nhi mein mei aur yeh voh woh kya kyun kyon kyunki kyonki kyuki kaise kahan kaun koi koyi kuch
kuchh sab sabhi sabko sabse sabka bhi bhee toh tum tumhara tumhari tumhe tumhen tumko tumse tera
teri tere tujhe mera meri mere mujhe mujhse mujhko hume humein humko humse hamara hamare hamari
aap aapka apko apne apna apni unka unke unki unhe unhen unhein unko unse unhone inka inke inki
inhe inhen inhein inko inse inhone iska iski iske isko isse uska uski uske usko usse usne jisne
jinhe jinka jinki kisi kisiko logo logon wala wale wali waale waali vala jaise jaisa aise aisa
aisi itna itne itni kitna kitne kitni wahi vahi yahi agar lekin magar balki warna sirf bahut bohot
bahot zyada jyada phir abhi kabhi hamesha pehle bina liye saath jahan yahan wahan idhar udhar khud
thay
"""
_SHARED = """
ka ki ke ky ko se pe par ho ek ye wo un us is ise kar to mat hi na ne tha thi the main me hum tu
jo ya log yah vah tak har dono baad dena lena hun baat jab tab ja jana
"""
OWN_WORDS = frozenset(_ITS_OWN.split())
WORDS = OWN_WORDS.union(_SHARED.split())
