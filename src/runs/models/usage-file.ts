/** `usage.json` of a run: what its language models used in all sittings, by role. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { addUsageByRole, type UsageByRole } from '../../chats/account.js'
import { writeFileAtomically } from '../../storage/atomic-write.js'

const UsageFile = z.record(
  z.string(),
  z.strictObject({
    calls: z.number(),
    // Earlier versions counted neither.
    failed: z.number().default(0),
    retries: z.number().default(0),
    promptTokens: z.number(),
    completionTokens: z.number(),
    cost: z.number().nullable(),
  }),
)

/** The usage of a folder's earlier sittings; empty where nothing was written. */
export async function readUsage(folder: string): Promise<UsageByRole> {
  const text = await readFile(join(folder, 'usage.json'), 'utf8').catch(() => '{}')
  return UsageFile.catch({}).parse(JSON.parse(text))
}

/** Adds the usage of this sitting to that of `before` and writes it; returns the sum. */
export async function writeUsage(
  folder: string,
  before: UsageByRole,
  now: UsageByRole,
): Promise<UsageByRole> {
  const all = addUsageByRole(before, now)
  if (Object.keys(all).length > 0)
    await writeFileAtomically(join(folder, 'usage.json'), `${JSON.stringify(all)}\n`)
  return all
}
