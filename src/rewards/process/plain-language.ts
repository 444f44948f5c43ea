/** Plain-language reward: the share of the doctor's questions without technical terms. */
import { textInLanguage } from '../../case.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import type { Reward } from '../../reward.js'
import type { PhraseTree } from '../../text/phrase-search.js'
import { findPhrases, normaliseText, phraseTree } from '../../text/phrase-search.js'
import { shareOfTurns } from './conduct.js'

const list = (text: string): readonly string[] => text.trim().split(/\s*[,\n]\s*/)

/**
 * Technical terms that a layperson does not know, in both scripts; matched as whole words, with regular endings.
 *
 * The list is this package's own and incomplete: terms for symptoms that have an everyday word. Words in everyday use
 * (asthma, 糖尿病) are not on it.
 */
export const technicalTerms: readonly string[] = [
  ...list(`
    dyspnoea, dyspnea, orthopnoea, orthopnea, haemoptysis, hemoptysis, expectoration, sputum, purulent
    productive cough, pyrexia, febrile, rigors, diaphoresis, malaise, cachexia, polydipsia, syncope, presyncope
    paraesthesia, paresthesia, hemiparesis, dysarthria, dysphasia, aphasia, ataxia, diplopia, photophobia
    phonophobia, tinnitus, epistaxis, rhinorrhoea, rhinorrhea, odynophagia, dysphagia, emesis, haematemesis
    hematemesis, melaena, melena, haematochezia, hematochezia, tenesmus, steatorrhoea, steatorrhea, dyspepsia
    epigastric, epigastrium, retrosternal, precordial, obstipation, icterus, ascites, dysuria, haematuria
    hematuria, nocturia, oliguria, anuria, polyuria, amenorrhoea, amenorrhea, dysmenorrhoea, dysmenorrhea
    menorrhagia, dyspareunia, erythema, pruritus, urticaria, petechiae, purpura, oedema, edema, myalgia
    arthralgia, cephalalgia, tachycardia, bradycardia, arrhythmia, claudication, paroxysmal, prodrome
    prodromal, aetiology, etiology, sequelae, comorbidities, contraindication, prophylaxis, analgesics
    antipyretics, anticoagulants, antihypertensives, nsaids, bronchodilator, corticosteroids, idiopathic
    exertional, lateralised, nuchal rigidity, afebrile
  `),
  ...list(`
    咯血, 痰中带血, 脓痰, 端坐呼吸, 劳力性, 夜间阵发性, 呼吸窘迫, 三凹征, 畏寒, 自汗, 弛张热, 稽留热, 黑蒙, 感觉异常, 偏瘫, 构音障碍, 失语, 共济失调, 复视, 鼻衄
    吞咽困难, 里急后重, 纳差, 恶病质, 呕血, 柏油样, 黑粪, 陶土色, 剑突下, 麦氏点, 腹膜刺激, 转移性右下腹, 腹水, 少尿, 无尿, 闭经, 经期紊乱, 瘀点, 瘀斑, 紫癜, 凹陷性
    肌痛, 关节痛, 心动过速, 心动过缓, 心律不齐, 放射痛, 间歇性跛行, 阵发性, 前驱症状, 病因, 并发症, 合并症, 既往史, 个人史, 主诉, 体征, 禁忌证, 非甾体, 解热镇痛
    糖皮质激素, 颈项强直
  `),
]

/** Options of {@link plainLanguage}. */
export interface PlainLanguageOptions {
  /** Adds the technical terms (`jargon`) of its findings. @default none */
  readonly knowledge?: Knowledge | undefined
  /** Technical terms. @default a short list of this package's own, zh and en */
  readonly terms?: readonly string[]
}

const maxLength = 600

const knowledgeJargon = ({ findings }: Knowledge): readonly string[] =>
  findings.flatMap(({ jargon }) => (jargon ? [...jargon.zh, ...jargon.en] : []))

function findTerms(tree: PhraseTree<true>, text: string): readonly string[] {
  const read = normaliseText(text)
  return findPhrases(tree, read).map(({ start, end }) => read.text.slice(start, end))
}

/** Whether a turn asked for something, so that thanks do not dilute the technical terms. */
const isInquiry = ({ facts }: EpisodeTurn): boolean =>
  facts.understood !== undefined &&
  facts.understood !== 'courtesy' &&
  facts.understood !== 'refused'

/**
 * The share of the questions without a technical term, except terms the patient used first, in the complaint or in an
 * answer. Thanks and refused requests are not counted; an utterance of more than 600 characters is not plain; a doctor
 * who never asked gets 0. A word list covers only its words: a minimum check, not a measure of plain language.
 */
export function plainLanguage({
  knowledge,
  terms = technicalTerms,
}: PlainLanguageOptions = {}): Reward {
  const all = [...terms, ...(knowledge ? knowledgeJargon(knowledge) : [])]
  const tree = phraseTree(all.map((term) => [term, true] as const))
  const judging = ({ intake, language }: Episode) => {
    const used = new Set(findTerms(tree, textInLanguage(intake.complaint, language)))
    return (turn: EpisodeTurn): number | undefined => {
      const { action, outcome } = turn
      if (action.kind !== 'ask' || !isInquiry(turn)) return undefined
      const isPlain =
        action.text.length <= maxLength &&
        findTerms(tree, action.text).every((term) => used.has(term))
      if (outcome.kind === 'answered')
        for (const term of findTerms(tree, outcome.text)) used.add(term)
      return Number(isPlain)
    }
  }
  return shareOfTurns(
    { name: 'plain-language', source: 'plain language as in MAQuE and PatientSim' },
    judging,
  )
}
