import test from 'ava'
import { compileModel } from '../../core/model/compile-model.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import { graphqlEnumValues } from '../../core/model/enum-names.ts'
import { graphqlQueryNames, graphqlTypeName } from '../../core/model/names.ts'
import { linearity } from '../harness/processor-time.ts'
import { attributeOf, holderOf, modelOf } from './compiled.ts'
import { conformanceProject, declare } from './declare.ts'

const names = async (yaml: string, holder: string): Promise<readonly string[]> => [
  ...holderOf(await modelOf(yaml), holder).attributes.keys(),
]

test('attributes are returned in the order id, declared, timestamps, locale', async t => {
  t.deepEqual(await names('contentTypes: { page: { attributes: { b: string, a: string } } }', 'page'), [
    'id',
    'documentId',
    'b',
    'a',
    'createdAt',
    'updatedAt',
    'publishedAt',
  ])
  t.deepEqual(await names('contentTypes: { page: { localized: true, attributes: { b: string } } }', 'page'), [
    'id',
    'documentId',
    'b',
    'createdAt',
    'updatedAt',
    'publishedAt',
    'locale',
    'localizations',
  ])
  t.deepEqual(await names('components: { a.part: { attributes: { b: string } } }', 'a.part'), ['id', 'b'])
})

test('attributes of a localized type are localized by default; those of other types are not', async t => {
  const model = await modelOf(`
components: { a.part: { attributes: { title: string } } }
contentTypes:
  page: { localized: true, attributes: { title: string, code: { type: string, localized: false } } }
  tag: { attributes: { title: string } }`)
  const localized = (holder: string, name: string) => attributeOf(model, holder, name).localized
  t.deepEqual(
    [
      localized('page', 'title'),
      localized('page', 'code'),
      localized('tag', 'title'),
      localized('a.part', 'title'),
    ],
    [true, false, false, false],
  )
})

test('both sides of a relation refer to each other, and one of them stores the link', async t => {
  const model = await modelOf(`contentTypes:
  author: { attributes: { articles: { type: relation, relation: oneToMany, target: article, mappedBy: author } } }
  article: { attributes: { author: { type: relation, relation: manyToOne, target: author, inversedBy: articles } } }`)
  const author = attributeOf(model, 'article', 'author')
  const articles = attributeOf(model, 'author', 'articles')
  if (author.kind !== 'relation' || articles.kind !== 'relation') return t.fail()
  t.is(author.counterpart, articles)
  t.is(articles.counterpart, author)
  t.true(author.target === model.contentTypes.get('api::author.author'))
  t.deepEqual([author.side, author.many, articles.side, articles.many], ['owner', false, 'inverse', true])
})

test('a type may have a relation to itself', async t => {
  const model = await modelOf(`contentTypes:
  page:
    attributes:
      parent: { type: relation, relation: manyToOne, target: page, inversedBy: children }
      children: { type: relation, relation: oneToMany, target: page, mappedBy: parent }
      next: { type: relation, relation: oneToOne, target: page }`)
  const parent = attributeOf(model, 'page', 'parent')
  const next = attributeOf(model, 'page', 'next')
  if (parent.kind !== 'relation' || next.kind !== 'relation') return t.fail()
  t.true(parent.counterpart === attributeOf(model, 'page', 'children'))
  t.true(next.target === holderOf(model, 'page'))
  t.is(next.counterpart, null)
})

test('users have a role, roles have users, and a project may add attributes to users', async t => {
  const model = await modelOf(`
contentTypes: { article: { attributes: { owner: { type: relation, relation: manyToOne, target: user, inversedBy: articles } } } }
user:
  attributes:
    nickname: string
    articles: { type: relation, relation: oneToMany, target: article, mappedBy: owner }`)
  const { user, role } = model.builtIn
  t.is(user.uid, 'plugin::users-permissions.user')
  t.deepEqual([...user.attributes.keys()].slice(2, -3), [
    'username',
    'email',
    'provider',
    'password',
    'resetPasswordToken',
    'confirmationToken',
    'confirmed',
    'blocked',
    'sessionVersion',
    'keptSession',
    'role',
    'nickname',
    'articles',
  ])
  const own = attributeOf(model, 'user', 'role')
  t.true(own.kind === 'relation' && own.target === role && own.counterpart === role.attributes.get('users'))
  for (const name of ['password', 'resetPasswordToken', 'confirmationToken'])
    t.true(user.attributes.get(name)?.private)
})

test('plurals are English, of the last word; configured ones take precedence', async t => {
  const model = await modelOf(`contentTypes:
  blog-person: { attributes: { name: string } }
  category: { attributes: { name: string } }
  analysis: { attributes: { name: string } }
  news: { pluralApiId: news-items, attributes: { name: string } }`)
  const plurals = [...model.contentTypes.values()].filter(type => !type.builtIn).map(type => type.pluralApiId)
  t.deepEqual(plurals, ['blog-people', 'categories', 'analyses', 'news-items'])
})

test('GraphQL names equal those of the reference', async t => {
  const model = await modelOf(`
components: { category.big-thing: { attributes: { name: string } } }
contentTypes: { shadow-loc-nocreate: { attributes: { name: string } } }`)
  const { locale, file, user } = model.builtIn
  const type = model.contentTypes.get('api::shadow-loc-nocreate.shadow-loc-nocreate')
  if (!type) return t.fail()
  t.deepEqual([type, holderOf(model, 'category.big-thing'), locale, file, user].map(graphqlTypeName), [
    'ShadowLocNocreate',
    'ComponentCategoryBigThing',
    'I18NLocale',
    'UploadFile',
    'UsersPermissionsUser',
  ])
  t.deepEqual(graphqlQueryNames(type), {
    one: 'shadowLocNocreate',
    many: 'shadowLocNocreates',
    connection: 'shadowLocNocreates_connection',
  })
  t.deepEqual(graphqlQueryNames(locale), {
    one: 'i18NLocale',
    many: 'i18NLocales',
    connection: 'i18NLocales_connection',
  })
})

test('enumeration values have distinct GraphQL names, those of Strapi where possible', t => {
  const names = (...values: readonly string[]) => [...graphqlEnumValues(values).keys()]
  t.deepEqual(names('two words', 'with-dash', 'été', "O'Neil", 'fooBar', 'a & b'), [
    'two_words',
    'with_dash',
    'ete',
    'O_Neil',
    'fooBar',
    'a_and_b',
  ])
  t.deepEqual(names('бензин', 'дизель', 'АКПП', 'всесезонные'), ['benzin', 'dizel', 'AKPP', 'vsesezonnye'])
  t.deepEqual(names('1st', 'true', 'C++', 'C#', 'C', 'C_2'), ['_1st', 'true_', 'C_3', 'C_4', 'C', 'C_2'])
  const unreadable = names('中文', '😀', '')
  t.is(new Set(unreadable).size, 3)
  t.true(unreadable.every(name => /^[_A-Za-z][_A-Za-z0-9]*$/.test(name)))
})

test('a model is immutable', async t => {
  const model = await modelOf(
    'contentTypes: { page: { attributes: { kind: { type: enumeration, enum: [a, b] } } } }',
  )
  const kind = attributeOf(model, 'page', 'kind')
  t.true([model, model.builtIn, model.locales, holderOf(model, 'page'), kind].every(Object.isFrozen))
  t.true(kind.kind === 'scalar' && Object.isFrozen(kind.values))
})

test('the conformance project compiles', async t => {
  const result = compileModel(await conformanceProject())
  t.true(result.ok)
  t.true(result.ok && result.value.contentTypes.size === 13)
})

const linkedTypes = (count: number) => {
  const types = Array.from({ length: count }, (_, index) => {
    const next = (index + 1) % count
    return `  type-${index}x:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, required: true }
      slug: { type: uid, targetField: title }
      kind: { type: enumeration, enum: [a, b, c] }
      next: { type: relation, relation: manyToOne, target: type-${next}x, inversedBy: previous }
      previous: { type: relation, relation: oneToMany, target: type-${(index + count - 1) % count}x, mappedBy: next }
      others: { type: relation, relation: manyToMany, target: type-${next}x }
      cover: { type: media, multiple: true, localized: false }`
  })
  return declare(['contentTypes:', ...types].join('\n'))
}

test('content-types compile in time proportional to their number', async t => {
  const projects = { 125: await linkedTypes(125), 500: await linkedTypes(500) }
  const compile = (count: number) => {
    const result = compileModel(projects[count === 500 ? 500 : 125])
    const tables = result.ok ? compileStorage(result.value).tables.length : 0
    t.true(tables > 3 * count, `${tables} tables of ${count} content-types`)
  }
  const { isLinear, times } = await linearity(500, compile, 30)
  t.true(isLinear, times)
})
