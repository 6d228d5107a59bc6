import test from 'ava'
import { Benefit } from '../../core/cache/admission.ts'

// When caching is worth its cost between writes. Times are given, not measured.

/** `hits` answers are current for each one that is outdated; a read and a version check take so many milliseconds. */
function observe(benefit: Benefit, hits: number, { read, check }: { read: number; check: number }): void {
  for (let outdated = 0; outdated < 64; outdated++) {
    for (let hit = 0; hit < hits; hit++) benefit.recordHit(check)
    benefit.recordOutdated(read)
  }
}

/** Reads without the cache until it is used again. */
function pauseOf(benefit: Benefit): number {
  let reads = 0
  while (benefit.countSuspended()) reads++
  return reads
}

test('documents that change before they are read again are not cached for some reads', t => {
  const benefit = new Benefit()
  observe(benefit, 0, { read: 1, check: 1 })
  t.true(benefit.isSuspended)
  t.is(pauseOf(benefit), 64)
  t.false(benefit.isSuspended, 'then it is tried again')
})

test('a pause that changed nothing is doubled, up to a bound, and forgotten once caching pays', t => {
  const benefit = new Benefit()
  const pauses = Array.from({ length: 7 }, () => {
    observe(benefit, 0, { read: 1, check: 1 })
    return pauseOf(benefit)
  })
  t.deepEqual(pauses, [64, 128, 256, 512, 1024, 1024, 1024])
  observe(benefit, 4, { read: 1, check: 1 })
  t.false(benefit.isSuspended)
  observe(benefit, 0, { read: 1, check: 1 })
  t.is(pauseOf(benefit), 64)
})

test('an expensive list is cached with one hit in twenty, a cheap document is not', t => {
  const [list, document] = [new Benefit(), new Benefit()]
  for (const [benefit, read] of [[list, 50] as const, [document, 1.2] as const]) {
    for (let outdated = 0; outdated < 64; outdated++) {
      if (outdated % 20 === 0) benefit.recordHit(1)
      benefit.recordOutdated(read)
    }
  }
  t.false(list.isSuspended)
  t.true(document.isSuspended)
})

test('answers that are not outdated never end the caching', t => {
  const benefit = new Benefit()
  for (let hit = 0; hit < 1000; hit++) benefit.recordHit(1)
  t.false(benefit.isSuspended)
})

/** As many answers without caching as are asked for now, each in so many milliseconds. */
function answerPlain(benefit: Benefit, milliseconds: number): number {
  let reads = 0
  while (benefit.isSuspended) {
    benefit.countSuspended()
    benefit.recordAnswer(milliseconds, true)
    reads++
  }
  return reads
}

/** One hit for each outdated answer; answers take so many milliseconds. */
function observeAnswers(benefit: Benefit, milliseconds: number): void {
  for (let outdated = 0; outdated < 64; outdated++) {
    benefit.recordHit(1)
    benefit.recordAnswer(milliseconds, false)
    benefit.recordAnswer(milliseconds, false)
    benefit.recordOutdated(3)
  }
}

test('with few hits, caching ends if answers take longer than without it', t => {
  const benefit = new Benefit()
  observeAnswers(benefit, 3)
  t.is(answerPlain(benefit, 2), 64, 'some reads are measured without the cache')
  const pauses = Array.from({ length: 4 }, () => {
    observeAnswers(benefit, 3)
    return answerPlain(benefit, 2)
  })
  t.deepEqual(pauses, [64, 128, 256, 512])
})

test('with few hits, caching goes on while answers are faster with it, and is compared again later', t => {
  const benefit = new Benefit()
  observeAnswers(benefit, 1)
  t.is(answerPlain(benefit, 2), 64)
  const pauses = Array.from({ length: 16 }, () => {
    observeAnswers(benefit, 1)
    return answerPlain(benefit, 2)
  })
  t.deepEqual(pauses, [...Array(15).fill(0), 64])
})

test('with many hits nothing is measured without the cache', t => {
  const benefit = new Benefit()
  for (let outdated = 0; outdated < 64; outdated++) {
    for (let hit = 0; hit < 5; hit++) {
      benefit.recordHit(1)
      benefit.recordAnswer(1, false)
    }
    benefit.recordOutdated(3)
  }
  t.false(benefit.isSuspended)
})
