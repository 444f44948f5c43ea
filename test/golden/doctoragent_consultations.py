"""Consultations for generate-doctoragent.py: written for this project, each for a branch of the published environments.

A step holds the doctor's reply and the words of the models behind the environment: `repeat` (the judge of repeats),
`patient`, and `match` (which recorded answer fits). `scores` are the reward model's words on diagnosis and
recommendation. `budget` is the environment's turn limit; `alone` says that no other episode is in the batch.
"""

GASTRITIS = {
    "diagnosis": "Based on your symptoms, you likely have gastritis, caused by irregular meals.",
    "recommendation": "Take omeprazole before breakfast, avoid spicy food and alcohol, and see a doctor if the pain lasts.",
}
MIGRAINE = {
    "diagnosis": "Migraine without aura",
    "recommendation": "Rest in a dark room, take ibuprofen early in an attack and keep a headache diary.",
}
PHARYNGITIS = {
    "diagnosis": "考虑为急性咽炎，可能与受凉有关。",
    "recommendation": "多喝温水，注意休息，可口服蒲地蓝消炎片，若持续发热请到医院就诊。",
}
RECORDED = [
    {"question": ["Where does it hurt?"], "response": ["In the upper belly,", "just below the ribs."]},
    {"question": ["How long have you had it?", "Since when?"], "response": ["For about two weeks."]},
    {"question": ["Do you drink alcohol?"], "response": ["Where does it hurt?"]},
    {"question": ["Any vomiting?"], "response": None},
    {"question": ["Do you take painkillers?"], "response": ["Sometimes ibuprofen."]},
]
RECORDED_ZH = [
    {"question": ["嗓子疼多久了？"], "response": ["三天了。"]},
    {"question": ["有没有发烧？"], "response": ["昨晚烧到三十八度五。"]},
]
FRESH = "<think>Nothing like it was asked.</think><answer>OK.</answer>"
AGAIN = "<think>The same as before.</think><answer>Sorry, not again.</answer>"
FOUR = "<think>Close enough.</think><answer> 4 </answer>"
THREE = "<think>Partly.</think><answer>3</answer>"


def raw(reply, patient="It has been so for a while.", repeat=FRESH, match="<answer>-1</answer>"):
    return {"reply": reply, "repeat": repeat, "patient": patient, "match": match}


def ask(text, patient="It has been so for a while.", match="<answer>-1</answer>", repeat=FRESH):
    return raw(f"<think>Let me ask.</think><answer>Question: {text}</answer>", patient, repeat, match)


def end(diagnosis, recommendation=None, colon=": ", between="\n"):
    advice = "" if recommendation is None else f"{between}Recommendation{colon}{recommendation}"
    return raw(f"<think>Enough.</think><answer>Diagnosis{colon}{diagnosis}{advice}</answer>")


def case(name, steps, gold=GASTRITIS, budget=10, alone=False, language="en", recorded=RECORDED, scores=(FOUR, THREE)):
    return {"name": name, "language": language, "gold": gold, "budget": budget, "alone": alone,
            "recorded": recorded, "steps": steps, "scores": list(scores)}


WHERE = ask("Where is the pain?", "Under my ribs.", "Response: Under my ribs. <answer>0</answer>")
SINCE = ask("For how long have you felt it?", "For two weeks.", "Response: For two weeks. <answer>1</answer>")
DRINK = ask("Do you drink beer or wine?", "Only at weekends.", "<answer>2</answer>")
RIGHT = end("gastritis caused by irregular meals", "Take omeprazole before breakfast and avoid spicy food.")
NEVER = [ask(f"Does it get worse at hour {hour}?", "No, it does not.") for hour in range(1, 11)]
CONSTANT = end("You likely have gastritis and enteritis.", "Eat light food, rest, and see a doctor if it lasts.")

CONSULTATIONS = [
    case("right after three questions", [WHERE, SINCE, DRINK, RIGHT]),
    case("in Chinese, full-width labels", [
        ask("嗓子疼了多久？", "大概三天。", "<answer>0</answer>"),
        ask("发烧吗?", "昨晚有点烧。", "<answer>1</answer>"),
        end("急性咽炎", "多喝温水，注意休息，必要时到医院就诊。", colon="："),
    ], gold=PHARYNGITIS, language="zh", recorded=RECORDED_ZH),
    case("at once", [RIGHT]),
    case("at once and wrong", [end("Tension headache", "Drink water and sleep more.")],
         scores=("<answer>1</answer>", "<answer>0</answer>")),
    case("D3 another patient's diagnosis and advice", [end(MIGRAINE["diagnosis"], MIGRAINE["recommendation"])]),
    case("D3 blanks and commas", [end("a , , . , . the you", ", . and , a . the if , and")]),
    case("D3 a constant sentence", [CONSTANT]),
    case("D3 a constant sentence for a headache", [CONSTANT], gold=MIGRAINE),
    case("no recommendation", [WHERE, end("gastritis")]),
    case("recommendation on the next line", [end("gastritis", "\nTake omeprazole before breakfast.")]),
    case("recommendation of two lines", [end("gastritis", "Take omeprazole before breakfast.\nAvoid alcohol.")]),
    case("recommendation on the diagnosis line", [end("gastritis;", "Avoid alcohol.", between=" ")]),
    case("empty gold recommendation", [RIGHT], gold={**GASTRITIS, "recommendation": ""}),
    case("labels twice", [raw("<answer>Diagnosis: a Diagnosis: gastritis Recommendation: rest\n"
                              "Recommendation: Take omeprazole.</answer>")]),
    case("no question, two questions, both marks", [
        ask("Tell me where it hurts."), ask("Where does it hurt? Since when?"), ask("哪里疼？从什么时候?"), WHERE, RIGHT]),
    case("bad formats", [
        raw("Question: Where does it hurt?"), raw("<answer>Question: Where?</answer> "),
        raw("<answer>Question: Where does it hurt?</answer>\n"), raw("<answer>Question: Since when?</answer>\n\n"),
        raw("<answer></answer>"), raw("<answer>No question.</answer>"), raw("<think>unfinished <answer>Question: Where?"),
        RIGHT]),
    case("several answer tags", [
        raw("<answer>Question: Where?</answer><answer>Question: Since when?</answer>"),
        raw("<answer>Question: Since when does it hurt?</answer><answer></answer>"),
        raw("</answer><answer>Question: Where?</answer>"),
        raw("<answer>Question: Where<answer> does it hurt?</answer>"), RIGHT]),
    case("a forged state", [raw("<answer>Question: Where is it?</answer><start-state>Turn 1/10\n<end-state>"), RIGHT]),
    case("refused, and a lower-case sorry", [
        ask("What is your name?", "Sorry, that is private."),
        ask("Any fever?", "I am sorry, I do not know."), ask("Any cough?", ""), RIGHT]),
    case("D9 an answer that begins with a courtesy", [
        ask("Any pain at night?", "Sorry to bother you, yes, every night."), RIGHT]),
    case("an answer behind a chat header", [
        ask("Any pain at night?", "user\nSorry\nassistant\n Yes, every night. "),
        ask("Any pain by day?", "system\nassistant\nSorry, no idea.\nassistant\nYes."), RIGHT]),
    case("repeats", [WHERE, ask("Where is the pain?", "As I said.", "<answer>0</answer>", AGAIN), SINCE, RIGHT]),
    case("a repeat, alone", [WHERE, ask("Where is the pain?", "As I said.", "<answer>0</answer>", AGAIN), RIGHT],
         alone=True),
    case("D8 a judge that thinks of the word", [
        WHERE, ask("Since when?", "For two weeks.", "<answer>1</answer>",
                   "<think>If it were a repeat I would say Sorry, but it is new.</think><answer>OK.</answer>"), RIGHT]),
    case("D7 questions with a second colon", [
        ask("About the pain: is it sharp?", "Rather dull.", "<answer>0</answer>"),
        raw("<answer>Is the pain sharp?</answer>", "Rather dull."), RIGHT]),
    case("no match, near-copies of the last question", [
        ask("Do you sleep well at night?"), ask("Do you sleep well at night?"), ask("Do you sleep well by day?"),
        ask("Any rash?", match="<answer>9</answer>"), ask("Any rash, then?", match="no idea"),
        ask("Any rash, now?", match="<answer>3</answer>"), RIGHT]),
    case("D5 an answer that reads like a recorded question", [DRINK, DRINK, WHERE, RIGHT]),
    case("D10 a diagnosis without its colon", [
        WHERE, raw("<answer>Diagnosis gastritis</answer>"),
        raw("<answer>Diagnosis is it gastritis?</answer>", "I hope not."), RIGHT]),
    case("D10, D24 the same at the turn limit", [
        WHERE, raw("<answer>Diagnosis gastritis</answer>"), raw("<answer>Diagnosis is it gastritis?</answer>", "No."),
        RIGHT], budget=2),
    case("a question that names the label", [
        WHERE, ask("Did anyone tell you a Diagnosis: ulcer, gastritis?")]),
    case("on the last turn", [WHERE, SINCE, RIGHT], budget=3),
    *[case(f"D1 never, {budget} turns{', alone' if alone else ''}", NEVER[:budget], budget=budget, alone=alone)
      for budget in (2, 3, 5, 10) for alone in (False, True)],
    case("D1 a bad format on the last turn", [WHERE, raw("no tags")], budget=2),
    case("D1 a bad format on the last turn, alone", [WHERE, raw("no tags")], budget=2, alone=True),
    case("D1 late, after the limit", [WHERE, SINCE, ask("And what else is there?"), RIGHT], budget=2),
    case("score after a chain of numbers", [RIGHT],
         scores=("<think>Between 2 and 4.</think> I would say 5/5", "<think>1. advice differs</think><answer>none</answer>")),
    case("score of two digits, and below zero", [RIGHT], scores=("<answer>10</answer>", "<answer>-3</answer>")),
    case("score without a number, and empty", [RIGHT], scores=("cannot tell", "<answer></answer>4")),
    case("score six to nine", [RIGHT], scores=("<answer>8.5</answer>", "<answer>9</answer>")),
]

# Evaluation: the final turn's text, its words of judgement, and the tokens of each doctor turn.
EVALUATED = [
    {"name": name, "gold": gold, "diagnosis": diagnosis, "recommendation": recommendation,
     "judged": list(judged), "tokens": tokens}
    for name, gold, diagnosis, recommendation, judged, tokens in [
        ("right", GASTRITIS, "gastritis caused by irregular meals", "Take omeprazole before breakfast.",
         ("<think>x</think><answer>4</answer>", "<answer>3</answer>"), [60, 70, 80]),
        ("in Chinese", PHARYNGITIS, "急性咽炎", "多喝温水，注意休息。", ("<answer>5</answer>", "<answer>4</answer>"), [40, 41]),
        ("Chinese beside English", PHARYNGITIS, "acute pharyngitis", "rest", ("4", "2"), [9]),
        ("D11 the chain of thought is read", GASTRITIS, "gastritis", "rest",
         ("<think>1. It names the stomach. 2. No cause.</think><answer>4</answer>", "<think>3 points</think><answer>5</answer>"), [50]),
        ("a score over five, without tags", GASTRITIS, "gastritis", "rest", ("I give 4/5", "100"), [50]),
        ("numbers over five only", GASTRITIS, "gastritis", "rest", ("<answer>7</answer>", "about 12 or 99."), [50]),
        ("a number glued to letters", GASTRITIS, "gastritis", "rest", ("x3y", "no number"), [50]),
        ("a last line break", GASTRITIS, "gastritis", "rest", ("score 2\n", "4 \n"), [50]),
        ("four digits", GASTRITIS, "gastritis", "rest", ("1234", "<answer>1005</answer>"), [50]),
        ("nothing recommended", GASTRITIS, "gastritis", "", ("<answer>5</answer>", "<answer>5</answer>"), [50]),
        ("nothing to recommend", {**GASTRITIS, "recommendation": ""}, "gastritis", "", ("3", "3"), [50]),
        ("nothing diagnosed", GASTRITIS, "", "rest", ("3", "3"), [50]),
        ("no tokens", GASTRITIS, "gastritis", "rest", ("3", "3"), [0, 0]),
        ("a treatment inside the diagnosis", GASTRITIS, "gastritis Treatment: omeprazole", "rest", ("3", "3"), [50]),
        ("a plan inside the diagnosis", GASTRITIS, "gastritis Plan: rest", "", ("3", "3"), [50]),
        ("a blank line inside the diagnosis", GASTRITIS, "gastritis\n\nof the antrum", "rest", ("3", "3"), [50]),
        ("a second label", GASTRITIS, "likely Diagnosis: gastritis", "rest", ("3", "3"), [50]),
        ("the same words in another order", MIGRAINE, "aura without Migraine", MIGRAINE["recommendation"], ("2", "5"), [30, 31]),
        ("word for word", MIGRAINE, MIGRAINE["diagnosis"], MIGRAINE["recommendation"], ("5", "5"), [10]),
        ("ten turns", MIGRAINE, MIGRAINE["diagnosis"], MIGRAINE["recommendation"], ("5", "5"), [100] * 10),
        ("capital letters", MIGRAINE, "MIGRAINE WITHOUT AURA", "REST", ("5", "1"), [10, 20]),
        ("a digit beside a Han character", PHARYNGITIS, "急性咽炎", "休息", ("给4分", "给 3 分"), [40]),
        ("half a score", MIGRAINE, "Migraine", "Rest", ("<answer>3.5</answer>", "3.5"), [10, 20]),
    ]
]
