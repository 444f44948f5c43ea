/** `bedside template check`: tests whether a model's chat template renders append-only. */
import type { TemplateCheck, TemplateDifference } from '../../trainers/tokens/template-check.js'
import { checkTemplate } from '../../trainers/tokens/template-check.js'
import { rethrowRangeError } from '../print/failure.js'
import { type Output, output, type PrintFlags, type Terminal, table } from '../print/output.js'

/** Flags of `template check`. */
export interface TemplateFlags extends PrintFlags {
  /** Date passed to the template, as `YYYY-MM-DD`. */
  readonly date?: string
}

const reasons: Readonly<Record<TemplateDifference['reason'], string>> = {
  history: 'the template renders what was read or drawn differently later',
  'end-of-turn': 'the template ends a reply with another token than the model does',
}

const tokenText = (token: TemplateDifference['expected']): string =>
  token === null ? 'the end' : `${token.id} ${JSON.stringify(token.text)}`

function differenceText({ turn, position, reason, ...found }: TemplateDifference): string {
  return [
    `First difference: ${found.conversation}, after reply ${turn + 1}, token ${position}: ${reasons[reason]}.`,
    `  stream    ${tokenText(found.expected)}`,
    `  template  ${tokenText(found.got)}`,
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

/** Checks that a tokenizer folder's template renders append-only; exit code 1 if it does not. */
export async function checkTemplateFolder(
  folder: string,
  { date, ...flags }: TemplateFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  const check = await rethrowRangeError('--date', () =>
    checkTemplate(folder, date === undefined ? {} : { date }),
  )
  if (flags.json) await out.document(check)
  else await out.say(checkText(check, out.paint))
  return check.ok ? 0 : 1
}
