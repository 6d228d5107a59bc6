import test from 'ava'
import { openTestDatabase } from '../harness/test-database.ts'
import { type Stage, stage } from './shift-case.ts'

// Links that only drafts show: of the draft of their owner, or to the draft of their target.

const project = (drafts: boolean, localized: boolean) => `
components: { part.pick: { attributes: { article: { type: relation, relation: oneToOne, target: article } } } }
contentTypes:
  article:
    draftAndPublish: ${drafts}
    localized: ${localized}
    attributes:
      name: string
      tags: { type: relation, relation: manyToMany, target: tag, inversedBy: articles }
      main: { type: relation, relation: manyToOne, target: tag, inversedBy: mains }
  tag:
    attributes:
      name: string
      articles: { type: relation, relation: manyToMany, target: article, mappedBy: tags }
      mains: { type: relation, relation: oneToMany, target: article, mappedBy: main }
  page:
    attributes:
      best: { type: relation, relation: manyToOne, target: article }
      list: { type: relation, relation: manyToMany, target: article }
      pick: { type: component, component: part.pick }
`

const published = async ({ create }: Stage) => {
  const { documentId } = await create('article', { name: 'a' })
  return { all: { documentId }, draft: { documentId, status: 'draft' } }
}

for (const localized of [false, true])
  test.serial(
    `links that only drafts show are counted where drafts are turned off (localized: ${localized})`,
    async t => {
      const after = project(false, localized)
      const one = await stage(await openTestDatabase(t), project(true, localized))
      const { all, draft } = await published(one)
      await one.create('tag', { name: 'both', articles: [all], mains: [all] })
      await one.create('page', { best: all, list: [all], pick: { article: all } })
      t.deepEqual(await one.losses(after), [])
      await one.create('tag', { name: 'drafts', articles: [draft], mains: [draft] })
      await one.create('page', { best: draft, list: [draft], pick: { article: draft } })
      const lost = (link: string) => `loses links of ${link} that only drafts show, in 1 row`
      t.deepEqual((await one.losses(after)).toSorted(), [
        lost('`article` of component `part.pick`'),
        lost('`best` of content-type `page`'),
        lost('`list` of content-type `page`'),
        lost('`main` of content-type `article`'),
        lost('`tags` of content-type `article`'),
      ])
    },
  )
