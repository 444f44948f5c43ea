import { describe, expect, test } from 'vitest'
import { spoken } from '../../src/agents/grammars/spoken.js'
import { Fault } from '../../src/error.js'
import {
  type EpisodeFromOptions,
  episodeFrom,
  type LoggedMessage,
} from '../../src/evaluation/logged-dialogue.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import type { Score } from '../../src/reward.js'
import { namedReward, rewardNames } from '../../src/rewards/named.js'
import { guardUnread } from '../../src/rewards/unread-facts.js'
import { parseSavedEpisode } from '../../src/storage/episode-schema.js'
import { episodeOf, finding, truthOf } from '../fixtures/reward-episodes.js'

const knowledge = loadKnowledge()
const truth = truthOf({ findings: [finding('fever')], gold: { exams: { required: ['x'] } } })
const message = (role: LoggedMessage['role'], content: string): LoggedMessage => ({ role, content })
const says = (content: string) => message('assistant', content)
const hears = (content: string) => message('user', content)
const blood = knowledge.exams[0]

const talk = [
  message('system', 'You are a doctor.'),
  hears('I cough.'),
  says('<think>flu?</think>Do you have a fever?'),
  hears('Yes, since Monday.'),
  says(`Order: ${blood?.name.en}`),
  message('tool', 'Nothing found.'),
  says('Diagnosis: Influenza\nRecommendation: Rest.'),
  hears('Thank you.'),
]
const from = (messages: readonly LoggedMessage[], options?: EpisodeFromOptions) =>
  episodeFrom(messages, truth, spoken(), options)

describe('a logged dialogue', () => {
  test('is an episode: actions by the grammar, outcomes as they were written', () => {
    const { turns, ...episode } = from(talk, { knowledge, id: 'log-1', agent: 'house' })
    expect(turns.map(({ action, outcome, text }) => ({ action, outcome, text }))).toEqual([
      {
        action: { kind: 'ask', text: 'Do you have a fever?' },
        outcome: { kind: 'answered', text: 'Yes, since Monday.' },
        text: '<think>flu?</think>Do you have a fever?',
      },
      {
        action: { kind: 'order', exam: blood?.name.en },
        outcome: { kind: 'examined', text: 'Nothing found.' },
        text: `Order: ${blood?.name.en}`,
      },
      {
        action: { kind: 'diagnose', diagnosis: 'Influenza', recommendation: 'Rest.' },
        outcome: { kind: 'closed' },
        text: 'Diagnosis: Influenza\nRecommendation: Rest.',
      },
    ])
    expect(episode).toMatchObject({
      ...{ id: 'log-1', agent: 'house', caseId: 'case', language: 'en', maxTurns: 10 },
      ...{ end: 'terminated', stop: 'diagnosed' },
      intake: { complaint: { en: 'I cough.' } },
    })
  })

  test('knows what was asked and ordered, and says what it does not know', () => {
    const [asked, ordered] = from(talk, { knowledge }).turns.map(({ facts }) => facts)
    expect(asked).toMatchObject({ understood: 'answered', questions: 1, asked: ['fever'] })
    expect(asked?.unread).toEqual(['told', 'money', 'minutes'])
    expect(ordered?.exams).toContain(blood?.id)
    expect(ordered?.unread).toEqual(['told', 'invasiveness', 'money', 'minutes'])
    const [blind, strange] = from([
      says('Fever?'),
      hears('Yes.'),
      says('Order: the unheard-of'),
    ]).turns
    expect(blind?.facts.unread).toEqual(
      expect.arrayContaining(['asked', 'understood', 'told', 'money']),
    )
    expect(strange?.facts).toEqual({ asked: [], told: [], exams: [], money: 0, minutes: 0 })
  })

  test('survives JSON, and the schema of saved episodes', () => {
    const saved = { episode: from(talk, { knowledge }), truth }
    const json = JSON.parse(JSON.stringify(saved))
    expect(parseSavedEpisode(json, 'here')).toEqual(saved)
  })

  test.each<[string, readonly LoggedMessage[], object]>([
    ['no reply to the last question', [says('Fever?')], { stop: 'max-turns', end: 'truncated' }],
    [
      'an unreadable reply',
      [says('Question: a?\nOrder: b'), hears('What?')],
      { stop: 'max-turns' },
    ],
    ['no doctor: it never began', [hears('I cough.')], { turns: [], end: 'truncated' }],
    ['Chinese', [says('发烧吗？'), hears('是的。')], { language: 'zh' }],
    [
      'many turns',
      Array.from({ length: 13 }, () => [says('Fever?'), hears('Yes.')]).flat(),
      { maxTurns: 13 },
    ],
  ])('%s', (_, messages, expected) => expect(from(messages)).toMatchObject(expected))

  test('joins what is said in several messages', () => {
    const [turn] = from([
      says('Fever?'),
      hears('Yes.'),
      hears('And chills.'),
      says('Chills?'),
    ]).turns
    expect(turn?.outcome).toEqual({ kind: 'answered', text: 'Yes.\nAnd chills.' })
  })

  test.each<[readonly LoggedMessage[], RegExp]>([
    [[], /messages: expected a dialogue, got none/],
    [[says('a?'), says('b?')], /messages\.1: expected what was said to the doctor/],
    [[says('a?'), message('system', 'x')], /messages\.1: expected system messages before/],
  ])('%#: is refused where it is none', (messages, error) => {
    expect(() => from(messages)).toThrow(error)
    expect(() => from(messages)).toThrow(Fault)
  })
})

describe('what is not known', () => {
  const scored = async (name: string): Promise<Score> =>
    namedReward(name, { knowledge })(from(talk, { knowledge }), truth)

  test.each(['history-coverage', 'cost', 'time', 'invasiveness', 'red-flag-recall', 'default'])(
    'makes %s unavailable, never 0',
    async (name) => {
      const about =
        name === 'red-flag-recall'
          ? truthOf({ gold: { redFlags: [{ finding: 'fever', mustAsk: true, action: 'refer' }] } })
          : truth
      const { total, parts } = await namedReward(name, { knowledge })(
        from(talk, { knowledge }),
        about,
      )
      expect(total).toBeNull()
      const [reason] = Object.values(parts).flatMap((part) =>
        part.status === 'unavailable' ? [part.reason] : [],
      )
      expect(reason).toMatch(/is not known|are not known/)
    },
  )

  test.each(['diagnosis-accuracy', 'partial-credit', 'verified-answer', 'grpodx-head', 'exam-f1'])(
    'does not matter to %s',
    async (name) => {
      const { total } = await scored(name)
      expect(total).toEqual(expect.any(Number))
      if (name !== 'exam-f1') expect(total).toBeGreaterThan(0.5)
    },
  )

  test('no reward of any name throws', async () => {
    for (const name of rewardNames) {
      const { total, parts } = await scored(name)
      expect(total === null || Number.isFinite(total), name).toBe(true)
      expect(Object.keys(parts).length).toBeGreaterThan(0)
    }
  })

  test('throws only when it is read, and an episode that knows all is itself', () => {
    const plain = episodeOf([])
    expect(guardUnread(plain)).toBe(plain)
    const episode = from(talk, { knowledge })
    const guarded = guardUnread(episode)
    expect(guardUnread(episode)).toBe(guarded)
    expect(guardUnread(guarded)).toBe(guarded)
    expect(guarded.turns[0]?.facts.asked).toEqual(['fever'])
    expect(() => guarded.turns[0]?.facts.told).toThrow(/`told` of turn 1 of episode case\/logged/)
    expect(() => guarded.spent.money).toThrow(/money/)
    expect(guarded.turns[2]?.facts.told).toEqual([])
  })
})
