import { describe, expect, test } from 'vitest'
import { type Case, patientView } from '../../../../src/case.js'
import { caseSource } from '../../../../src/cases/generator/generate.js'
import { freePatient } from '../../../../src/envs/patients/free/free.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import type { Exchange, Reply } from '../../../../src/patient.js'
import type { Language } from '../../../../src/turn.js'
import { faithfulReply, pose } from '../../../fixtures/skin-stubs.js'

const knowledge = loadKnowledge()
const truth: Case = Array.from({ length: 80 }, (_, n) =>
  caseSource(knowledge, { tier: 'easy' })(n),
).find(
  ({ findings, demographics: { speaker } }) =>
    speaker === 'self' &&
    findings.some(({ id, state }) => id === 'cough' && state === 'present') &&
    findings.some(({ id, state }) => id === 'headache' && state === 'absent'),
)!

const say = async (
  utterance: string,
  text: string,
  { dialogue = [], language = 'en' }: { dialogue?: Exchange[]; language?: Language } = {},
): Promise<Reply> => {
  const chat = async () => ({ text, usage: { promptTokens: 1, completionTokens: 1 } })
  const context = { view: patientView(truth), dialogue, seed: 0, language }
  return freePatient({ chat, knowledge })(utterance, context)
}

describe('what a free patient told', () => {
  test.each([
    ['Do you have a cough?', "Yes, I've been coughing.", [{ finding: 'cough', state: 'present' }]],
    ['Do you have a cough?', 'Yes.', [{ finding: 'cough', state: 'present' }]],
    ['Do you have a headache?', 'No headache, doctor.', [{ finding: 'headache', state: 'absent' }]],
    ['Do you have a headache?', "I'm not sure.", [{ finding: 'headache', state: 'unknown' }]],
  ])('%s %s', async (utterance, text, told) => {
    const reply = await say(utterance, text)
    expect(reply).toMatchObject({ text, told, flags: [] })
    expect(reply.unread).toBeUndefined()
  })

  test.each([
    ['咳嗽吗？', '嗯，老是咳嗽。', [{ finding: 'cough', state: 'present' }]],
    ['头疼吗？', '头不疼。', [{ finding: 'headache', state: 'absent' }]],
    ['头疼吗？', '说不清。', [{ finding: 'headache', state: 'unknown' }]],
  ])('%s %s', async (utterance, text, told) =>
    expect(await say(utterance, text, { language: 'zh' })).toMatchObject({ text, told }),
  )

  test('what cannot be read is not known, and never nothing', async () => {
    expect(await say('Do you have a cough?', 'My chest barks like an old sea lion.')).toMatchObject(
      {
        unread: ['told'],
      },
    )
    expect(await say('Do you have a cough?', 'Maybe.')).toMatchObject({ unread: ['told'] })
    const all = ['understood', 'asked', 'told']
    expect(await say('Zxqv wvzk qqq?', 'Yes, every day.')).toMatchObject({ unread: all })
  })

  test('a finding told beside the question counts', async () => {
    const { told } = await say('Do you have a headache?', 'No headache. I have a cough, though.')
    expect(told).toContainEqual({ finding: 'cough', state: 'present' })
  })

  test('contradictions of the case and of what was said are flagged', async () => {
    expect(await say('Do you have a cough?', 'No cough.')).toMatchObject({
      flags: ['contradiction'],
    })
    const before = await say('Do you have a cough?', "Yes, I've been coughing.")
    const dialogue = [{ utterance: 'Do you have a cough?', reply: before }]
    expect(await say('Any cough?', 'No cough at all.', { dialogue })).toMatchObject({
      flags: ['contradiction'],
    })
  })

  test('the name of a disease is flagged, unless the doctor said it first', async () => {
    const said = 'I think I have appendicitis.'
    expect(await say('What is it, do you think?', said)).toMatchObject({ flags: ['disease-named'] })
    expect(await say('Could it be appendicitis?', said)).toMatchObject({ flags: [] })
  })
})

describe.each(['en', 'zh'] as const)('faithful answers, %s', (language) => {
  test('are read as what they tell, or not at all', async () => {
    let [right, wrong, unread] = [0, 0, 0]
    for (let n = 0; n < 150; n++) {
      const posed = pose(knowledge, language, n)
      if (posed.reply.told.length === 0) continue
      const text = faithfulReply(knowledge, posed)
      const chat = async () => ({ text, usage: { promptTokens: 1, completionTokens: 1 } })
      const reply = await freePatient({ chat, knowledge })(posed.utterance, posed.context)
      const states = new Map(reply.told.map(({ finding, state }) => [finding, state]))
      for (const { finding, state } of posed.reply.told) {
        const read = states.get(finding)
        if (read === state) right++
        else if (read === undefined && reply.unread?.includes('told')) unread++
        else wrong++
      }
    }
    expect(wrong).toBe(0)
    expect(unread / (right + unread)).toBeLessThan(0.1)
  })
})
