import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { load } from './load.ts'

const good = readFileSync(join(import.meta.dirname, '../conformance/project/project.yaml'), 'utf8')
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ': ',
  '- ',
  '"',
  "'",
  '\n',
  '\t',
  '*a',
  '&a ',
  '!t ',
  '<<: ',
  '${',
  '${X}',
  '#',
  '|\n',
  '~',
  '.inf',
  '0x1F',
  '__proto__',
  'true',
  '\u0000',
  'é',
  '%',
  '---\n',
]
const RUNS = 300

/** A small generator with a seed, so that a failing file can be made again. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function mutate(text: string, random: (below: number) => number): string {
  let mutant = text
  for (let times = 1 + random(4); times > 0; times--) {
    const [start, length] = [random(mutant.length), random(12)]
    const piece = [PIECES[random(PIECES.length)] ?? '', mutant.slice(random(mutant.length)).slice(0, 20), ''][
      random(3)
    ]
    mutant = mutant.slice(0, start) + piece + mutant.slice(start + length)
  }
  return mutant
}

test(`a randomly damaged file is a project or a list of located errors, never a crash (${RUNS} files)`, async t => {
  const random = randomOf(20_260_101)
  let refused = 0
  for (let run = 0; run < RUNS; run++) {
    const mutant = mutate(good, random)
    const loaded = await load(mutant)
    if ('settings' in loaded) continue
    refused++
    t.true(loaded.length > 0 && loaded.every(text => /^\S+:\d+:\d+ \S/.test(text)), mutant)
    const isNoise = loaded.some(text => /undefined|\[object|schemaPath|must (have|match|NOT)/.test(text))
    t.false(isNoise, loaded.join('\n'))
  }
  t.true(refused > RUNS / 2)
})
