/** What a patient says to a plan that they are asked to agree to: a yes, a worry or a question. None names a finding. */
import type { PatientContext } from '../../../patient.js'
import { dialLevel } from '../../../persona.js'
import { uniform } from '../../../seed.js'
import type { AnswerInput } from './answer-input.js'
import { pickFresh } from './fresh.js'
import { speakOfPatient, yearsOf } from './speaker.js'
import type { SentenceBank } from './stock-sentences.js'

/** What is planned, the gravest first. */
const plans = {
  hospital:
    /\b(?:surg\w+|operat\w+|theatre|admit\w*|hospital|ward|overnight|keep you in|specialists?)\b|住院|手术|转院|专科|开刀/i,
  needle:
    /\b(?:blood(?! pressure)|needles?|injections?|jabs?|drip|cannula|lumbar|spinal)\b|抽.{0,2}血|采血|验血|化验血|扎|打针|输液|挂水|腰穿|穿刺|抽点水/i,
  intimate:
    /\b(?:back passage|rectal|internal exam\w*|bottom|vaginal|smear|breasts?|testicles?|undress)\b|肛门|肛门指检|直肠|妇科|内诊|下身|下体|乳房|裤子/i,
  scan: /\b(?:scan|x.?ray|mri|ct|camera|scope|endoscop\w+|colonoscop\w+|ultrasound)\b|片子|拍片|CT|核磁|磁共振|B超|彩超|超声|胃镜|肠镜|造影/i,
  sample: /\b(?:urine|stool|swab|sample|phlegm)\b|尿|大便|拭子|留.{0,3}样/i,
  treatment:
    /\b(?:tablets?|medicines?|antibiotics?|inhalers?|cream|prescri\w+|therap\w+|treat\w*|something for)\b|开.{0,2}药|吃药|用药|治疗|药膏/i,
} as const
type PlannedStep = keyof typeof plans | 'look'
const order = Object.keys(plans) as (keyof typeof plans)[] // the keys of the literal above

interface Views {
  readonly yes: SentenceBank
  readonly worry: SentenceBank
}

/** Fits whatever is planned. */
const agreement: SentenceBank = {
  en: ["Yes, that's fine.", 'Of course, go ahead.', 'Sure, please do.', 'By all means.'],
  zh: ['行，没问题。', '可以，您来吧。', '好的，听您安排。', '嗯，可以。'],
}

const views: { readonly [plan in PlannedStep]: { readonly own: Views; readonly carer: Views } } = {
  look: {
    own: {
      yes: agreement,
      worry: {
        en: ["Yes. It won't hurt, will it?", 'All right, but go gently, please.'],
        zh: ['行，您轻点儿啊。', '可以，会疼吗？'],
      },
    },
    carer: {
      yes: {
        en: ["Yes, I'll stay next to {him}.", 'Sure, {he} is good with doctors.', 'Of course.'],
        zh: ['行，我陪着{ta}。', '可以，{ta}挺听话的。', '好，您查吧。'],
      },
      worry: {
        en: ["Yes. It won't hurt {him}, will it?", '{He} may be a bit shy, but go ahead.'],
        zh: ['行，您轻点儿，{ta}怕生。', '可以，不会弄疼{ta}吧？'],
      },
    },
  },
  needle: {
    own: {
      yes: {
        en: ["Yes, needles don't bother me.", "Fine, let's get it done.", "Yes, that's all right."],
        zh: ['行，抽就抽吧。', '可以，我不怕扎针。', '好，您安排就是。'],
      },
      worry: {
        en: [
          "I'm not fond of needles, but all right.",
          'If it has to be. When do I get the result?',
          'Okay. Is it a big needle?',
        ],
        zh: ['我有点怕扎针，不过行吧。', '行，结果什么时候能出来？', '那要空腹吗？'],
      },
    },
    carer: {
      yes: {
        en: ["If it helps {him}, yes. I'll hold {him}.", "Yes, {he}'ll be brave."],
        zh: ['为了孩子，该做就做吧。', '行，我抱着{ta}。'],
      },
      worry: {
        en: ["{He} doesn't like needles. Is it really needed?", 'Will it hurt {him} much?'],
        zh: ['{ta}怕打针，非得做吗？', '孩子会不会很疼啊？'],
      },
    },
  },
  intimate: {
    own: {
      yes: {
        en: ["If it's needed, yes.", "It's a bit awkward, but all right."],
        zh: ['需要查就查吧。', '有点不好意思，不过行。'],
      },
      worry: {
        en: [
          'Does it have to be today? Well, all right.',
          'Will it hurt?',
          'Can somebody be there?',
        ],
        zh: ['非查不可吗？那行吧。', '会疼吗？', '能轻一点吗？'],
      },
    },
    carer: {
      yes: {
        en: ["If it's needed, yes. I'd like to stay.", 'All right, I will explain it to {him}.'],
        zh: ['需要就查吧，我在旁边陪着。', '行，我跟{ta}说说。'],
      },
      worry: {
        en: ['Is that really needed?', 'Can I stay with {him}?'],
        zh: ['真的需要吗？', '我能在旁边陪着吗？'],
      },
    },
  },
  scan: {
    own: {
      yes: {
        en: ['Yes, then we will know for sure.', "Fine by me, if that's what it takes."],
        zh: ['行，拍了心里也踏实。', '可以，您开单子吧。'],
      },
      worry: {
        en: ['Is it safe?', 'All right. How long does it take?', 'What will it show?'],
        zh: ['对身体有影响吗？', '行，要等多久？', '是要看什么呢？'],
      },
    },
    carer: {
      yes: {
        en: ['Yes, then at least we know.', "Fine, if you think it's best for {him}."],
        zh: ['行，查清楚了也放心。', '可以，听您的。'],
      },
      worry: {
        en: ['Is it safe at {his} age?', 'Does {he} have to lie still for it?'],
        zh: ['{ta}这么小，做这个安全吗？', '{ta}怕是待不住，要紧吗？'],
      },
    },
  },
  sample: {
    own: {
      yes: {
        en: ["Yes, that's no trouble.", 'Sure, where do I go?', 'Fine, just give me a pot.'],
        zh: ['行，没问题。', '好，到哪儿去留？', '可以，我这就去。'],
      },
      worry: {
        en: ['All right. I hope I can manage it now.', 'Do I have to do it today?'],
        zh: ['行，就怕这会儿没有。', '今天就要吗？'],
      },
    },
    carer: {
      yes: {
        en: ["Yes, we'll manage that.", "Sure, I'll help {him} with it."],
        zh: ['行，我带{ta}去。', '好，我来弄。'],
      },
      worry: {
        en: ["I'll try, I can't promise {he}'ll do it.", 'Can we do that at home?'],
        zh: ['不一定留得出来，我试试。', '能回家留吗？'],
      },
    },
  },
  hospital: {
    own: {
      yes: {
        en: ['If you think I need it, yes.', 'All right. Somebody has to tell my family.'],
        zh: ['您觉得有必要，那就听您的。', '行，我跟家里说一声。'],
      },
      worry: {
        en: ['Is it as bad as that?', "Oh. I hadn't reckoned with that.", 'For how long?'],
        zh: ['有这么严重吗？', '啊，没想到要这样。', '得多长时间啊？'],
      },
    },
    carer: {
      yes: {
        en: ["If {he} needs it, of course. I'm staying with {him}.", 'Whatever is best for {him}.'],
        zh: ['孩子要紧，听您的。', '行，我陪着{ta}。'],
      },
      worry: {
        en: ['Is it as bad as that?', 'Can I stay with {him}?'],
        zh: ['有这么严重吗？', '我能陪着{ta}吗？'],
      },
    },
  },
  treatment: {
    own: {
      yes: {
        en: ["Yes, I'll give it a try.", 'Good, anything that helps.'],
        zh: ['行，我试试。', '好，管用就行。'],
      },
      worry: {
        en: [
          'Are there side effects?',
          'How long before it works?',
          'Do I have to take it for long?',
        ],
        zh: ['有副作用吗？', '多久能见效？', '要一直用吗？'],
      },
    },
    carer: {
      yes: {
        en: ["Yes, we'll try that.", 'Good, anything that helps {him}.'],
        zh: ['行，那就试试。', '好，对{ta}好就行。'],
      },
      worry: {
        en: ['Is it all right for a child?', 'Does it have side effects?'],
        zh: ['小孩能用吗？', '副作用大不大？'],
      },
    },
  },
}

/** Plans that most people have a question about. */
const weighty: ReadonlySet<PlannedStep> = new Set<PlannedStep>([
  'hospital',
  'intimate',
  'scan',
  'needle',
])
/** P(a worry or a question) at a plan that is weighty, and at any other. */
const worryChance = { weighty: 0.4, light: 0.1 } as const
/** Asks what the patient makes of it, which a bare yes does not answer. */
const asksOpinion =
  /\bhow (?:do|does|would) (?:you|she|he|that|this) (?:feel|sound)|\bwhat do you (?:think|say)\b|怎么想|(?:觉得|看)(?:怎么样|呢|如何)/i
/** A carer speaks for a child, not for a grown patient. */
const grown = 14

/** What the patient says to a plan, by what is planned, who speaks, and how anxious they are. */
export function consentSentence({ utterance, context }: AnswerInput): string {
  const { view, seed, language } = context
  const plan: PlannedStep = order.find((one) => plans[one].test(utterance)) ?? 'look'
  const carer = view.demographics.speaker === 'caregiver' && (yearsOf(context) ?? 0) < grown
  const { yes, worry } = views[plan][carer ? 'carer' : 'own']
  const chance = worryChance[weighty.has(plan) ? 'weighty' : 'light']
  const worried =
    dialLevel(view.persona, 'anxious') > 0 ||
    asksOpinion.test(utterance) ||
    uniform(seed, 'consent', plan) < chance
  const bank = (worried ? worry : yes)[language].map((text) => speakOfPatient(text, context))
  return pickFresh(bank, context as PatientContext, ['consent', plan])
}
