/** Differential-diagnosis rewards against the generator's posterior: set F1, proper scores, total variation distance. */
import type { Gold } from '../../case.js'
import { diagnosisOf } from '../../episode.js'
import { notApplicable, ok, type Part, type Reward } from '../../reward.js'
import { unitReward } from '../define.js'
import type { DiagnoseAction } from './diagnosis-list.js'
import { diagnosisList, diseaseSeverity, primaryDiagnosisId } from './diagnosis-list.js'
import type { Formulary, FormularyOptions } from './formulary.js'

/**
 * A doctor's stated belief: a probability distribution over diseases, with the remainder `elsewhere`.
 *
 * The confidence is P(diagnosis); without one, the diagnosis has the probability that the differential leaves, so that
 * an unqualified diagnosis is a sure one. An entry without a number has probability 0: a long list of names alone
 * changes nothing. Probability of texts that name no disease, and probability left over, goes to `elsewhere`, which
 * never holds the truth, so that vagueness is not paid. Numbers that sum to more than 1 are scaled down to 1.
 */
export interface StatedBelief {
  /** Probability by disease id. */
  readonly byDisease: ReadonlyMap<string, number>
  /** Probability on no known disease. */
  readonly elsewhere: number
}

/** The belief that a diagnosis states; without a diagnosis all of it is elsewhere. */
export function statedBelief(
  given: DiagnoseAction | undefined,
  gold: Gold,
  formulary: Formulary,
): StatedBelief {
  if (!given) return { byDisease: new Map(), elsewhere: 1 }
  const [first, ...others] = diagnosisList(given, gold, formulary)
  const beside = others.reduce((sum, { p = 0 }) => sum + p, 0)
  const sure = first?.p ?? Math.max(0, 1 - beside)
  const scale = Math.max(1, sure + beside)
  const of = new Map<string, number>()
  for (const { concept, p = 0 } of [{ ...first, p: sure }, ...others])
    if (concept) of.set(concept.id, p / scale)
  const placed = [...of.values()].reduce((sum, p) => sum + p, 0)
  return { byDisease: of, elsewhere: Math.max(0, 1 - placed) }
}

const least = 0.01

/** Severity class at or below which a disease must not be missed (1 is life-threatening). */
const severe = 2

const shown = (n: number): string => n.toFixed(2)

function countNamed(
  given: DiagnoseAction,
  gold: Gold,
  { formulary, wanted, grave }: Required<SetF1Options> & { readonly wanted: ReadonlySet<string> },
) {
  const list = diagnosisList(given, gold, formulary).filter(
    ({ concept, p }, place) =>
      (place === 0 || p === undefined || p >= least) &&
      (!grave || (concept?.severity !== undefined && concept.severity <= severe)),
  )
  const hits = list.filter(({ concept }) => concept && wanted.has(concept.id)).length
  return { all: list.length, hits }
}

/** Options of {@link differentialF1}. */
export interface SetF1Options extends FormularyOptions {
  /** Whether only diseases of severity 1 and 2 count, on both sides. @default false */
  readonly grave?: boolean
}

function setF1(
  given: DiagnoseAction | undefined,
  gold: Gold,
  options: Required<SetF1Options>,
): Part {
  const { formulary, grave } = options
  const wanted = new Set(
    (gold.differential ?? [])
      .filter(({ p }) => p >= least)
      .filter(({ id }) => !grave || (diseaseSeverity(gold, formulary, id) ?? Infinity) <= severe)
      .map(({ id }) => id),
  )
  if (wanted.size === 0) return notApplicable
  if (!given) return ok(0, 'no diagnosis')
  const { all, hits } = countNamed(given, gold, { ...options, wanted })
  return ok((2 * hits) / (all + wanted.size), `${hits} of ${all} named, of ${wanted.size} wanted`)
}

/**
 * F1 of the diseases named (the diagnosis, and the differential's entries without a probability or with one of at least
 * .01) against those with a posterior of at least .01 given all findings. An unknown name counts as named, and ten
 * places are read, so that listing everything pays only the share of ten that is right.
 * Not applicable where the case has no differential, or with `grave`, no severe disease in it.
 * @param grave only diseases of severity 1 and 2, which must not be missed; a name without a severity does not count
 */
export const differentialF1 = ({ formulary = [], grave = false }: SetF1Options = {}): Reward =>
  unitReward(
    grave ? 'grave-differential-f1' : 'differential-f1',
    `${grave ? 'DSF1' : 'DDF1'} of DDXPlus (Fansi Tchango et al. 2022), whole entities, list cut at 10`,
    (episode, { gold }) => setF1(diagnosisOf(episode), gold, { formulary, grave }),
  )

/**
 * The Brier score of the stated probabilities q ({@link StatedBelief}), 1 − ½ Σ (q_d − 1[d = truth])², a proper score:
 * stating anything but the true belief gains nothing. Right and sure earns 1, wrong and sure 0, no diagnosis 0.
 * Ignorance does not earn 0: an even spread over ten diseases earns .45 to .55 whatever the truth. For training use
 * `differentialSpherical`.
 */
export const differentialBrier = ({ formulary = [] }: FormularyOptions = {}): Reward =>
  unitReward(
    'differential-brier',
    'proper score (Brier 1950), over diseases',
    (episode, { gold }) => {
      const { byDisease: of, elsewhere } = statedBelief(diagnosisOf(episode), gold, formulary)
      const truth = of.get(primaryDiagnosisId(gold)) ?? 0
      let squares = elsewhere ** 2 + (1 - truth) ** 2 - truth ** 2
      for (const p of of.values()) squares += p ** 2
      return ok(Math.min(1, Math.max(0, 1 - squares / 2)), `P(truth) ${shown(truth)}`)
    },
  )

/**
 * The spherical score of the stated probabilities q, q_truth / √Σ q_d²: proper like the Brier score, and 0 where the
 * truth has no probability, so that neither doubt nor a long list pays by itself: even odds on ten diseases earn .32
 * where the truth is one of them and 0 elsewhere. Right and sure earns 1.
 */
export const differentialSpherical = ({ formulary = [] }: FormularyOptions = {}): Reward =>
  unitReward(
    'differential-spherical',
    'spherical score (Gneiting and Raftery 2007), over diseases',
    (episode, { gold }) => {
      const { byDisease: of, elsewhere } = statedBelief(diagnosisOf(episode), gold, formulary)
      const truth = of.get(primaryDiagnosisId(gold)) ?? 0
      let squares = elsewhere ** 2
      for (const p of of.values()) squares += p ** 2
      const length = Math.sqrt(squares)
      return ok(truth === 0 ? 0 : Math.min(1, truth / length), `P(truth) ${shown(truth)}`)
    },
  )

/**
 * 1 − the total variation distance between the stated probabilities q and the posterior p given all findings, over
 * the case's differential: Σ min(q_d, p_d). Probability on other diseases agrees with nothing.
 * Not applicable where the case has no differential.
 */
export const differentialAgreement = ({ formulary = [] }: FormularyOptions = {}): Reward =>
  unitReward(
    'differential-agreement',
    '1 − total variation distance to the oracle’s posterior, after DDXPlus',
    (episode, { gold }) => {
      const listed = gold.differential ?? []
      const sum = listed.reduce((all, { p }) => all + p, 0)
      if (sum === 0) return notApplicable
      const { byDisease: of } = statedBelief(diagnosisOf(episode), gold, formulary)
      const shared = listed.reduce((all, { id, p }) => all + Math.min(of.get(id) ?? 0, p / sum), 0)
      return ok(Math.min(1, shared), `shares ${shown(shared)}`)
    },
  )
