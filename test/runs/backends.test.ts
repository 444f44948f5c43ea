import { expect, test } from 'vitest'
import { openBackend } from '../../src/runs/backends.js'
import { resolveRecipe } from '../../src/runs/recipe.js'
import { task } from '../../src/tasks/task.js'
import { embedded } from '../../src/trainers/embedded/embedded.js'

test.each([
  ['given', (owner: ReturnType<typeof embedded>) => owner],
  ['made', (owner: ReturnType<typeof embedded>) => () => owner],
])(
  'a backend, %s, whose trainer keeps the checkpoints is refused before anything',
  async (_, as) => {
    const world = await task({ clinic: ['tiredness'], heldOut: 1 })
    const whole = embedded({ actionSpace: world.actionSpace })
    const owner = {
      ...whole,
      capabilities: { ...whole.capabilities, owns: { checkpoints: false } },
    }
    await expect(
      openBackend(resolveRecipe({}), world, { folder: 'none', backend: as(owner) }),
    ).rejects.toThrow(
      'backend: expected one that keeps its checkpoints and its optimiser, got `embedded`',
    )
    await using opened = await openBackend(resolveRecipe({}), world, {
      folder: 'none',
      backend: as(whole),
    })
    expect(opened.backend).toBe(whole)
  },
)
