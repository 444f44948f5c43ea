/** Chinese phrases that are only parts of other words: 头疼 in 舌头疼. */

/** What ends in 头 and is no head, or only says where: 舌头疼不疼, 肚子是上头疼还是下头疼. */
const otherHead = /[舌骨指趾奶乳龟]$|(?:肚子|心口|胃|胸口?|腰|背|腿|是|那|疼在)[上下里外]$/

/** Whether a phrase at a place of a text begins inside another word. */
export const isInsideWord = (text: string, start: number): boolean =>
  text[start] === '头' && otherHead.test(text.slice(Math.max(0, start - 4), start))
