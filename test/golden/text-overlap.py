"""Writes text-overlap.json: what the published systems' own functions give for texts of ours.

text-overlap.py DOCTORAGENT_RL_CHECKOUT MRLX_CHECKOUT

The functions are compiled alone out of their files, which import a whole training stack. The texts are
put together from strings of our knowledge base by a seeded generator; each is a list of indices into
`fragments`, so that the file stays small and a change of the knowledge base changes no number.
"""

import ast
import collections
import importlib.metadata
import json
import math
import pathlib
import random
import re
import subprocess
import sys

import jieba
from rouge_score import rouge_scorer

SEED = 7
CHINESE_PAIRS = 1200
ENGLISH_PAIRS = 200
GOLDEN = pathlib.Path(__file__).with_name("text-overlap.json")
KNOWLEDGE = GOLDEN.parents[2] / "data" / "knowledge"
EVALUATION = "ragen/env/medical_consultation/evaluation/evaluation_for_patientllm_category.py"
JOINTS = ["，", "。", "、", "；", "\n", " ", "", "和", "或者", "建议", "考虑", "可能是", "：", ", ", ". "]
ODD = [
    "7-9", "2019-08-15", "7-9.5", "1-2-3", "7%9", "7.5%-9%", "COVID-19", "c#1", "C++", "C+1", "AT&T5",
    "B超", "CT", "pH7.4", "HP(+)", "T恤", "5mg/次", "10ml×3次", "1/2片", "X光线3张", "a_1", "a--1", "3.5.7",
    "1#2&3+4", "%5", "-5", "IgG-4", "5-HT", "L5-S1", "\r\n", "\n\n", "\u3000", "  ", "\t", "……", "——",
    "\u201c头痛\u201d", "（右侧）", "《指南》", "😷", "👨‍👩‍👧", "㐀", "𠮷", "鿕", "鿖", "鿿", "豈", "é", "β受体", "γ射线", "７－９",
    "٣-٤", "ⅡⅢ", "Ä1-2", "\u00a0", "\ufeff", "a\u0301", "3‰", "℃", "～", "~", "1～2周", "I'm", "don't", "İ",
]


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


def knowledge():
    """Chinese and English strings of the knowledge base, each once, sorted."""
    found = set()
    for path in sorted(KNOWLEDGE.glob("*.json")):
        found.update(strings(json.loads(path.read_text(encoding="utf-8"))))
    chinese = sorted(s for s in found if re.search("[\u4e00-\u9fff]", s) and len(s) <= 40)
    english = sorted(s for s in found if re.fullmatch("[A-Za-z][A-Za-z ,.'?-]+", s) and " " in s)
    return chinese, english


def measure(draw):
    """A number with a unit, a range, a date or a share."""
    a = draw.randint(0, 40)
    return draw.choice([
        f"{a}-{a + draw.randint(1, 9)}天", f"{a}.{draw.randint(0, 9)}℃", f"{a}/{a + 40}mmHg", f"{a}%",
        f"20{draw.randint(10, 26)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
        f"每日{a}次", f"{a}mg", f"第{a}周", f"{a}至{a + 2}岁", f"WBC{a}.{draw.randint(0, 9)}×10^9/L", f"{a}多年",
    ])


def mangled(draw, chinese):
    """Han characters in no order, so that words are met that no dictionary has."""
    characters = list("".join(draw.sample(chinese, 3)))
    draw.shuffle(characters)
    return "".join(characters[: draw.randint(4, 16)])


def fragments_of(draw):
    chinese, english = knowledge()
    plain = draw.sample(chinese, 1100)
    latin = draw.sample(english, 160)
    strange = ODD + [measure(draw) for _ in range(160)] + [mangled(draw, chinese) for _ in range(160)]
    return list(dict.fromkeys(JOINTS + plain + latin + strange)), set(plain), set(latin)


def written(draw, pools, count):
    """Indices of one text: fragments with joints between them."""
    indices = []
    for _ in range(count):
        pool = draw.choices(list(pools), weights=[pools[name][1] for name in pools])[0]
        indices.append(draw.choice(pools[pool][0]))
        indices.append(draw.randrange(len(JOINTS)))
    return indices


def rewritten(draw, pools, gold, kept):
    """The gold text with pieces left out, put in their place or moved."""
    pieces = [gold[i : i + 2] for i in range(0, len(gold), 2)]
    pieces = [p if draw.random() < kept else written(draw, pools, 1) for p in pieces]
    if draw.random() < 0.5:
        draw.shuffle(pieces)
    return sum(pieces[: draw.randint(1, len(pieces))], []) + written(draw, pools, draw.randint(0, 3))


def material():
    draw = random.Random(SEED)
    fragments, plain, latin = fragments_of(draw)
    place = {fragment: i for i, fragment in enumerate(fragments)}
    chinese = [place[f] for f in fragments if f in plain]
    english = [place[f] for f in fragments if f in latin]
    strange = [i for i, f in enumerate(fragments) if i >= len(JOINTS) and f not in plain | latin]
    kinds = [
        {"zh": (chinese, 1)},
        {"zh": (chinese, 6), "strange": (strange, 2)},
        {"zh": (chinese, 3), "en": (english, 2), "strange": (strange, 2)},
    ]
    pairs = []
    for n in range(CHINESE_PAIRS + ENGLISH_PAIRS):
        pools = kinds[n % 3] if n < CHINESE_PAIRS else {"en": (english, 6), "strange": (strange, 1)}
        gold = written(draw, pools, draw.randint(2, 9))
        pairs.append([rewritten(draw, pools, gold, draw.choice([0, 0.3, 0.6, 0.9])), gold])
    pairs += [[[], pairs[0][1]], [pairs[0][0], []], [[], []]]
    return fragments, pairs


def soups(count):
    """Short strings of what jieba's expressions treat apart: letters, digits, joints, spaces, Han of every block."""
    draw = random.Random(SEED)
    alphabet = list("aCc79109.%-+#&_ ，中国天头痛发烧℃") + ["\r\n", "\u3000", "㐀", "𠮷", "鿿", "豈", "😷", "c#", "B超"]
    return ["".join(draw.choices(alphabet, k=draw.randint(1, 18))) for _ in range(count)]


def functions(checkout, path, *names):
    """The named functions of a file, compiled alone and put in one class where they call each other."""
    tree = ast.parse((pathlib.Path(checkout) / path).read_text(encoding="utf-8"))
    found = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name in names}
    scope = {"Counter": collections.Counter, "math": math}
    body = ast.Module(body=[found[name] for name in names], type_ignores=[])
    exec(compile(body, path, "exec"), scope)
    return [scope[name] for name in names]


def published(doctoragent, mrlx):
    """(bag F1, character LCS, evaluator) of the two systems; the two bag F1 are held to each other."""
    envs = "ragen/env/medical_consultation/"
    [taking] = functions(mrlx, "MrlX-TakesTwo/doctor_reward.py", "_get_rouge_score")
    [training] = functions(doctoragent, envs + "env_patient_llm.py", "_get_rouge_score")
    [matching] = functions(doctoragent, envs + "env.py", "_get_rouge_score")
    names = ["tokenize_text", "calculate_bleu", "calculate_rouge", "_get_ngrams"]
    names.append("_longest_common_subsequence_length")
    found = functions(doctoragent, EVALUATION, *names)
    evaluator = type("Evaluator", (), dict(zip(names, found)))()

    def bag(candidate, gold):
        value = taking(candidate, gold)
        assert value == training(None, candidate, gold)
        return value

    return bag, lambda candidate, gold: matching(None, candidate, gold), evaluator


def lengths(text):
    """Each token's length in code points, one base-36 digit each (z for 35 and more)."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    tokens = jieba.lcut(text)
    assert "".join(tokens) == text
    return "".join(digits[min(len(token), 35)] for token in tokens)


def rounded(values):
    return [round(value, 12) for value in values]


def main(doctoragent, mrlx):
    jieba.setLogLevel(60)
    fragments, pairs = material()
    texts = [["".join(fragments[i] for i in side) for side in pair] for pair in pairs]
    bag, matching, evaluator = published(doctoragent, mrlx)
    google = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
    own = rouge_scorer.RougeScorer(
        ["rouge1", "rouge2", "rougeL"],
        tokenizer=type("Tokens", (), {"tokenize": staticmethod(lambda t: evaluator.tokenize_text(t))})(),
    )

    def doctoragent_rouge(candidate, gold):
        values = [evaluator.calculate_rouge(candidate, gold, n_gram=n) for n in (1, 2)]
        values.append(evaluator.calculate_rouge(candidate, gold, use_lcs=True))
        if candidate or gold:
            same = own.score(gold, candidate)
            for (f1, p, r), key in zip(values, ["rouge1", "rouge2", "rougeL"]):
                assert max(abs(f1 - same[key].fmeasure), abs(p - same[key].precision)) < 1e-12
                assert abs(r - same[key].recall) < 1e-12
        return rounded(number for f1, p, r in values for number in (p, r, f1))

    def google_rouge(candidate, gold):
        scores = google.score(gold, candidate)
        return rounded(
            number
            for key in ["rouge1", "rouge2", "rougeL"]
            for number in (scores[key].precision, scores[key].recall, scores[key].fmeasure)
        )

    def commit(checkout):
        head = ["git", "-C", checkout, "rev-parse", "HEAD"]
        return subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()

    found = {
        "source": "text overlap",
        "commits": {"JarvisUSTC/DoctorAgent-RL": commit(doctoragent), "AQ-MedAI/MrlX": commit(mrlx)},
        "versions": {name: importlib.metadata.version(name) for name in ["jieba", "rouge-score"]},
        "seed": SEED,
        "fragments": fragments,
        "pairs": pairs,
        "tokens": [[lengths(text) for text in pair] for pair in texts],
        "soups": [[text, lengths(text)] for text in soups(1000)],
        "bagF1": [bag(*pair) for pair in texts],
        "characterLcs": [matching(*pair) for pair in texts],
        "googleRouge": [google_rouge(*pair) for pair in texts],
        "doctorAgentRouge": [doctoragent_rouge(*pair) for pair in texts],
        "doctorAgentBleu": [
            rounded(evaluator.calculate_bleu(*pair, n_gram=n) for n in (1, 2, 3, 4)) for pair in texts
        ],
    }
    rows = ",\n".join(
        f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        for key, value in found.items()
    )
    GOLDEN.write_text("{\n" + rows + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
