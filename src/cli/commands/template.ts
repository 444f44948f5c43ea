/** `bedside template check`: whether a model's chat template only ever appends. */
import type { TemplateCheck, TemplateDifference } from '../../trainers/tokens/template-check.js'
import { checkTemplate } from '../../trainers/tokens/template-check.js'
import type { Output, PrintFlags, Terminal } from '../print/output.js'
import { output, table } from '../print/output.js'
import { givenAt } from './failure.js'

export interface TemplateFlags extends PrintFlags {
  /** The day the template is told it is, as `YYYY-MM-DD`. */
  readonly date?: string
}

const reasons: Readonly<Record<TemplateDifference['reason'], string>> = {
  history: 'the template renders what was read or drawn differently later',
  'end-of-turn': 'the template ends a reply with another token than the model does',
}

const token = (one: TemplateDifference['expected']): string =>
  one === null ? 'the end' : `${one.id} ${JSON.stringify(one.text)}`

function differenceText({ turn, position, reason, ...found }: TemplateDifference): string {
  return [
    `First difference: ${found.conversation}, after reply ${turn + 1}, token ${position}: ${reasons[reason]}.`,
    `  stream    ${token(found.expected)}`,
    `  template  ${token(found.got)}`,
    `  around    ${JSON.stringify(found.text)}`,
  ].join('\n')
}

function checkText(check: TemplateCheck, paint: Output['paint']): string {
  const rows = [
    ...check.conversations.map(({ name, forks }) => [name, String(forks)]),
    ...check.refused.map(({ name }) => [name, 'refused']),
  ]
  const verdict = check.ok
    ? paint.green('Append-only: every prompt extends the one before.')
    : paint.red(`Not append-only: ${check.forks} forks.`)
  return [
    `Template family: ${check.families.join(', ')}`,
    table([['conversation', 'forks'], ...rows]),
    ...(check.firstDifference ? [differenceText(check.firstDifference)] : []),
    ...(check.seams > 0
      ? [
          `In ${check.seams} prompts tokens would merge across a reply's edge: send ids, not messages.`,
        ]
      : []),
    verdict,
  ].join('\n\n')
}

/** Holds a tokenizer folder to append-only rendering; 1 if it is not. */
export async function checkTemplateFolder(
  folder: string,
  { date, ...flags }: TemplateFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  const check = await givenAt('--date', () =>
    checkTemplate(folder, date === undefined ? {} : { date }),
  )
  if (flags.json) await out.document(check)
  else await out.say(checkText(check, out.paint))
  return check.ok ? 0 : 1
}
