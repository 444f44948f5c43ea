/**
 * What npm runs in a checkout after an installation: builds `dist`. The first `npx bedside` in a checkout is one too, of
 * the checkout into npm's own cache. npm never mends that when it failed or was broken off, so it is kept short: what is
 * built stays, and where nothing is, the command says what to do.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
if (process.env.npm_command !== 'exec') await import('./build.js')
else if (!existsSync(command)) {
  mkdirSync(dirname(command), { recursive: true })
  const says = JSON.stringify('Expected this checkout to be built: run `npm ci` in its folder')
  const text = `#!/usr/bin/env node\nconsole.error(${says})\nprocess.exitCode = 1\n`
  writeFileSync(command, text, { mode: 0o755 })
}
