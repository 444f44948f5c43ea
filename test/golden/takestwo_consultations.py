"""Consultations for generate-takestwo.py: written for this project, each for a branch of the published rewards.

A turn is the doctor's raw reply and the patient's raw answer; the patient has none after the last reply. `judged`
holds what a judge of the patient said, word for word.
"""

from doctoragent_consultations import CONSTANT, GASTRITIS, MIGRAINE, PHARYNGITIS

CONSTANT_TEXT = CONSTANT["reply"].split("<answer>")[1].split("</answer>")[0]


def ask(text, patient="It has been so for a while.", think="I should ask."):
    return {"doctor": f"<think>\n{think}\n</think>\n\nQuestion: {text}", "patient": patient}


def end(text, think="That is enough."):
    return {"doctor": f"<think>\n{think}\n</think>\n\n{text}", "patient": None}


def case(name, turns, gold=GASTRITIS, language="en"):
    return {"name": name, "language": language, "gold": gold, "turns": turns}


DIAGNOSIS = "Diagnosis: gastritis caused by irregular meals"
ADVICE = "Recommendation: Take omeprazole before breakfast and avoid spicy food."
THREE = [ask("Where is the pain?", "Under my ribs."), ask("Since when?", "For two weeks."),
         ask("Any beer or wine?", "Only at weekends.")]
NEVER = [ask(f"Is it worse at hour {hour}?", "No, it is not.") for hour in range(1, 11)]

CONSULTATIONS = [
    case("M1 diagnosis and recommendation", [*THREE, end(f"{DIAGNOSIS}\n{ADVICE}")]),
    case("M1 diagnosis alone", [*THREE, end(DIAGNOSIS)]),
    case("M1 recommendation alone", [*THREE, end(ADVICE)]),
    case("M1 neither", [*THREE, end("I do not know.")]),
    case("M1 recommendation on the next line", [*THREE, end(f"{DIAGNOSIS}\nRecommendation:\nAvoid spicy food.")]),
    case("in Chinese", [
        ask("嗓子疼了多久？", "大概三天。"), ask("发烧吗？吃药了吗？", "昨晚有点烧。"),
        end("Diagnosis：急性咽炎\nRecommendation：多喝温水，注意休息。")], PHARYNGITIS, "zh"),
    case("in Chinese, without advice", [ask("嗓子疼了多久？", "大概三天。"), end("Diagnosis: 急性咽炎")], PHARYNGITIS, "zh"),
    case("labels of the other language", [ask("嗓子疼了多久？", "大概三天。"), end("诊断：急性咽炎\n建议：多喝温水。")],
         PHARYNGITIS, "zh"),
    case("at once", [end(f"{DIAGNOSIS}\n{ADVICE}")]),
    case("D3 another patient's", [end(f"Diagnosis: {MIGRAINE['diagnosis']}\nRecommendation: {MIGRAINE['recommendation']}")]),
    case("D3 a constant sentence", [end(CONSTANT_TEXT)]),
    case("M2 the patient asks back twice", [ask("Any fever?", "Why? Is it serious?"), ask("Any cough?", "是吗？要紧吗？"),
                                            end(DIAGNOSIS)]),
    case("M2 the doctor asks three questions", [ask("Any fever? Any cough? Any rash?", "No."), end(DIAGNOSIS)]),
    case("M3 a thought quotes the rule", [
        ask("Any fever?", "<think>Unrelated ones get a Sorry. Is it? It is not?</think>Yes, 39 degrees."),
        end(DIAGNOSIS)]),
    case("M3 sorry in all ways", [
        ask("Your name?", "Sorry, that is private."), ask("Any fever?", "I am SORRY to say, yes."),
        ask("Any cough?", "Yes."), end(DIAGNOSIS)]),
    case("M5 failures of the patient", [
        ask("Any fever?", "Sorry, not now."), ask("Any cough?", "Patient agent service error"),
        ask("Any rash?", "Invalid session ID"), ask("Any pain?", "Parameter error"),
        end(DIAGNOSIS)]),
    case("M6 the same question ten times", [*[ask("Any fever?", "No.") for _ in range(9)], end(DIAGNOSIS)]),
    case("M6 never diagnosing", NEVER),
    case("M4 more turns than allowed, with a diagnosis", [*NEVER, *NEVER[:2], end(DIAGNOSIS)]),
    case("M4 one turn more", [*NEVER, end(DIAGNOSIS)]),
    case("M17 a thought cut off", [ask("Any fever?", "<think>I should tell of my"), end(DIAGNOSIS)]),
    case("M19 a diagnosis in an unclosed thought", [*THREE, {"doctor": f"<think>Perhaps {DIAGNOSIS}", "patient": None}]),
    case("an answer behind two thoughts", [end(f"Diagnosis: ulcer</think>{DIAGNOSIS} {ADVICE}")]),
    case("labels twice", [end(f"Diagnosis: a {DIAGNOSIS} {ADVICE}\n{ADVICE}")]),
    case("empty after the label", [*THREE, end("Diagnosis:\nRecommendation:")]),
    case("the patient has the last word", [{"doctor": DIAGNOSIS, "patient": "Thank you."}]),
    case("an empty gold", [*THREE, end(f"{DIAGNOSIS}\n{ADVICE}")], {"diagnosis": "", "recommendation": ""}),
]

RATES = '{"information_control_rate": %s, "response_completeness_rate": %s, "factual_conflict_rate": %s}'
SPOKEN = [*THREE, end(f"{DIAGNOSIS}\n{ADVICE}")]
HIDDEN = [ask("Any fever?", "<think>\nI have one.\n</think>\n\nYes."), ask("Any cough?", "<think>cut off"),
          ask("Any rash?", " No. ")]


def judged(name, said, turns=SPOKEN):
    return {"name": name, "turns": turns, "judged": said}


JUDGED = [
    judged("perfect", RATES % ("1.0", "1.0", "1.0")),
    judged("two faults", RATES % ("0.8", "1", "0.8")),
    judged("fenced", "```json\n" + RATES % ("0.6", "0.8", "1.0") + "\n```"),
    judged("fenced in capitals", "```JSON\n" + RATES % ("0.6", "0.8", "1.0") + "\n```"),
    judged("fenced without a language", "```\n" + RATES % ("0.6", "0.8", "1.0") + "\n```"),
    judged("behind a thought", "<think>One extra.</think>\n\n" + RATES % ("0.8", "1.0", "1.0")),
    judged("M16 two thoughts", "<think>a</think><think>b</think>" + RATES % ("0.8", "1.0", "1.0")),
    judged("M16 above one", RATES % ("1.2", "3", "1.0")),
    judged("M16 below zero", RATES % ("-0.4", "0.2", "-1")),
    judged("M16 no JSON", "The patient did well."),
    judged("M16 nothing", ""),
    judged("M16 a list", "[1, 1, 1]"),
    judged("M16 words for numbers", RATES % ('"1.0"', "1.0", "1.0")),
    judged("M16 null", RATES % ("null", "1.0", "1.0")),
    judged("true and false", RATES % ("true", "false", "1.0")),
    judged("a rate missing", '{"information_control_rate": 0.8, "factual_conflict_rate": 1}'),
    judged("an empty object", "{}"),
    judged("a word before", "Here: " + RATES % ("1.0", "1.0", "1.0")),
    judged("more keys", '{"note": "x", ' + (RATES % ("0.4", "0.4", "0.4"))[1:]),
    judged("rounded", RATES % ("0.33333", "0.66666", "0.11111")),
    judged("rounded to even, down", RATES % ("0.5", "0.5", "0.0625")),
    judged("rounded to even, up", RATES % ("0.5", "0.5", "0.1875")),
    judged("not a number", RATES % ("NaN", "1.0", "1.0")),
    judged("the patient's thoughts are cut, the doctor's stay", RATES % ("1.0", "0.8", "1.0"), HIDDEN),
]

# What the doctor's model replied until its sample was given up.
ABORTED = [
    {"name": "M18 an empty reply", "replies": ["Question: Where?", "  "], "finish": "stop"},
    {"name": "M18 nothing before the end mark", "replies": ["<|im_end|>Diagnosis: gastritis"], "finish": "stop"},
    {"name": "M18 the server gave up", "replies": ["Question: Wh"], "finish": "abort"},
]
