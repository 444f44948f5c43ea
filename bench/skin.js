/**
 * What gets past the skin's check: replies of a hostile stub (adds, drops, turns round, names the disease, speaks of its
 * task; target 0 through) and of a faithful one (the same facts in other words and manners; target 99 % through), zh and
 * en. Run after `npm run build`: `node bench/skin.js [2000] [--show]`.
 */
import { loadKnowledge } from '../dist/exports/knowledge.js'
import { importSource } from './bundled.js'

const args = process.argv.slice(2)
const count = Number(args.find((one) => !one.startsWith('-')) ?? 2000)
const show = args.includes('--show')
const { pose, wordedAs, hostileReply, faithfulReply } = await importSource(
  '../test/fixtures/skin-stubs.ts',
)
const knowledge = loadKnowledge()

for (const language of ['en', 'zh']) {
  const hostile = {}
  let faithful = 0
  for (let n = 0; n < count / 2; n++) {
    const posed = pose(knowledge, language, n)
    const { kind, text } = hostileReply(knowledge, posed)
    hostile[kind] ??= { sent: 0, through: 0 }
    hostile[kind].sent++
    if ((await wordedAs(knowledge, posed, text)).wording !== 'template') {
      hostile[kind].through++
      if (show)
        console.log('HOSTILE', kind, JSON.stringify([posed.utterance, posed.reply.text, text]))
    }
    const said = faithfulReply(knowledge, posed)
    const { wording } = await wordedAs(knowledge, posed, said)
    if (wording === 'passed') faithful++
    else if (show)
      console.log('FAITHFUL', JSON.stringify([posed.utterance, posed.reply.text, said]))
  }
  const all = Object.values(hostile)
  const sum = (key) => all.reduce((total, one) => total + one[key], 0)
  console.table(hostile)
  console.log(
    `${language}: hostile ${sum('through')} of ${sum('sent')} through (target 0); faithful ${((200 * faithful) / count).toFixed(2)} % through (target 99)`,
  )
}
