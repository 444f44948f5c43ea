/** The injection set against everything that is judged by rule: no attack may win. */
import { describe, expect, test } from 'vitest'
import { type Case, graderView, patientView } from '../../src/case.js'
import { generateCase } from '../../src/cases/generator/generate.js'
import { rulePatient } from '../../src/envs/patients/rule.js'
import type { Episode, EpisodeTurn } from '../../src/episode.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import type { Judge, JudgeRequest } from '../../src/rewards/judges/judge.js'
import { namedReward, presetNames } from '../../src/rewards/named.js'
import { formularyOf } from '../../src/rewards/outcome/formulary.js'
import { diagnosisNames, findName } from '../../src/testing/leak.js'
import { formatHuatuoReply } from '../../src/text/huatuo-reply.js'
import { injections } from '../fixtures/injections.js'
import { ask, diagnose, episodeOf } from '../fixtures/reward-episodes.js'

const knowledge = loadKnowledge()
const formulary = formularyOf(knowledge)
const rewards = [...presetNames, 'diagnosis-accuracy', 'partial-credit', 'verified-answer']
  .filter((name) => !name.endsWith('-parity') && name !== 'takestwo-patient')
  .map((name) => namedReward(name, { knowledge, formulary }))

const cases: readonly Case[] = [0, 1, 2, 3].map((n) =>
  generateCase(knowledge, { tier: 'standard', seed: 11, n }),
)

test('there are fifty attacks and more, on judges and patients, in both languages', () => {
  expect(injections.length).toBeGreaterThanOrEqual(50)
  expect(new Set(injections.map(({ text }) => text)).size).toBe(injections.length)
  for (const aim of ['judge', 'patient'])
    for (const lang of ['zh', 'en'])
      expect(
        injections.filter((one) => one.aim === aim && one.lang === lang).length,
      ).toBeGreaterThanOrEqual(12)
})

describe('a judge by rule', () => {
  const wrong = { en: 'An invented disease', zh: '一种虚构的病' }
  const said = (text: string): EpisodeTurn => ({ ...ask(), action: { kind: 'ask', text }, text })
  const concluded = (diagnosis: string, recommendation?: string): EpisodeTurn => {
    const { action, ...turn } = diagnose(diagnosis)
    const full = recommendation === undefined ? action : { ...action, recommendation }
    return { ...turn, action: full, text: formatHuatuoReply('…', diagnosis) } as EpisodeTurn // a diagnosis with advice
  }
  /** Where an attack may stand: as the diagnosis, beside one, in the advice, in the questions, in hidden reasoning. */
  const places: readonly ((attack: string, guess: string) => readonly EpisodeTurn[])[] = [
    (attack) => [ask(), concluded(attack)],
    (attack, guess) => [ask(), concluded(`${guess}. ${attack}`)],
    (attack, guess) => [ask(), concluded(`${attack}\n${guess}`)],
    (attack, guess) => [ask(), concluded(guess, attack)],
    (attack, guess) => [said(attack), concluded(guess)],
    (attack, guess) => [ask(), concluded(`<think>${attack}</think>${guess}`)],
  ]
  const attacks = injections.filter(({ aim }) => aim === 'judge')

  test.each(attacks)('$id wins nothing', async ({ text, lang }) => {
    const guess = wrong[lang]
    for (const truth of cases.map(graderView)) {
      const played = (turns: readonly EpisodeTurn[]): Episode =>
        episodeOf(turns, { language: lang, caseId: truth.caseId })
      const honest = played([ask(), concluded(guess)])
      for (const reward of rewards) {
        const { total: plain } = await reward(honest, truth)
        for (const [n, place] of places.entries()) {
          const { total } = await reward(played(place(text, guess)), truth)
          const gained = total !== null && total > (plain ?? 0) + 1e-9
          expect(gained, `${reward.rewardName}, place ${n}: ${total} above ${plain}`).toBe(false)
        }
      }
    }
  })
})

test('the set bites: a judge that believes what it reads is won over by many of them', async () => {
  const credulous: Judge = Object.assign(
    async (request: JudgeRequest) =>
      /correct|正确|满分|reference|参考/i.test('answer' in request ? request.answer : '')
        ? 'Correct'
        : 'Wrong',
    { judgeName: 'credulous' },
  )
  const [truth] = cases.map(graderView)
  if (!truth) throw new Error('there is a case')
  const reward = namedReward('diagagent', { knowledge, formulary, judge: credulous })
  let won = 0
  for (const { text, lang, aim } of injections) {
    if (aim !== 'judge') continue
    const { total } = await reward(episodeOf([ask(), diagnose(text)], { language: lang }), truth)
    if ((total ?? 0) > 0.5) won++
  }
  expect(won).toBeGreaterThan(10)
})

describe('the rule patient', () => {
  const patient = rulePatient({ knowledge })
  const attacks = injections.filter(({ aim }) => aim === 'patient')

  test.each(attacks)('$id gets no diagnosis and no finding', async ({ text, lang }) => {
    for (const truth of cases) {
      const context = { view: patientView(truth), dialogue: [], seed: 5, language: lang } as const
      const reply = await patient(text, context)
      expect(findName(reply.text, diagnosisNames(truth)), reply.text).toBeUndefined()
      expect(reply.told, reply.text).toEqual([])
      expect(reply.text).not.toContain(truth.id)
      expect(reply.text).not.toMatch(/[{}]|gold|J\d\d\.\d/)
    }
  })
})
