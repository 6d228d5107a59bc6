import type { Files } from './loading.ts'

const names = (...keys: string[]) =>
  keys
    .map(key => `  shadow-${key}: { attributes: { name: { type: string, required: true }, note: string } }`)
    .join('\n')

const TYPES = `
name: Laboratory
i18n: { locales: [{ code: en, name: English }, { code: fr, name: French }] }
components:
  shared.link: { attributes: { label: string, url: { type: string, required: true } } }
contentTypes:
  dish: { attributes: { name: string } }
  author: { attributes: { name: { type: string, required: true } } }
  country: { attributes: { name: string } }
  shadow-acts: { pluralApiId: shadow-actses, attributes: { name: { type: string, required: true }, note: string } }
${names('late', 'nocreate', 'nodelete', 'nofind', 'nofindone', 'nom', 'noq', 'noqm', 'noupdate', 'star', 'unknown', 'off')}
  shadow-plain: { attributes: { name: { type: string, required: true }, note: string, deep: { type: relation, relation: oneToOne, target: shadow-fields } } }
  shadow-loc: { localized: true, attributes: { name: string } }
  shadow-loc-nocreate: { localized: true, attributes: { name: string } }
  shadow-single: { kind: single, attributes: { name: string } }
  shadow-single-nofind: { kind: single, attributes: { name: string } }
  shadow-single-noupdate: { kind: single, attributes: { name: string } }
  shadow-parent:
    attributes:
      name: string
      toNoq: { type: relation, relation: oneToOne, target: shadow-noq }
      toNoqs: { type: relation, relation: oneToMany, target: shadow-noq }
      toNom: { type: relation, relation: oneToOne, target: shadow-nom }
      toNofind: { type: relation, relation: oneToMany, target: shadow-nofind }
      toStar: { type: relation, relation: oneToOne, target: shadow-star }
      toOff: { type: relation, relation: oneToOne, target: shadow-off }
  shadow-fields:
    pluralApiId: shadow-fieldses
    attributes:
      plain: string
      noOut: string
      noIn: string
      noFilter: string
      gone: { type: enumeration, enum: [a, b] }
      relNoIn: { type: relation, relation: oneToOne, target: dish }
      relNoFilter: { type: relation, relation: oneToOne, target: dish }
      relNoOut: { type: relation, relation: oneToOne, target: dish }
      compNoOut: { type: component, component: shared.link }
`

/** The content-types of the reference's laboratory, as far as its extensions speak of them. */
export const LABORATORY: Files = { 'project.yaml': TYPES }

/** The parts that its extensions switch off in code. */
export const SHADOW = `
  register({ graphql }) {
    const type = key => graphql.shadowCRUD('api::shadow-' + key + '.shadow-' + key)
    type('off').disable()
    type('noq').disableQueries()
    type('nom').disableMutations()
    type('noqm').disableQueries().disableMutations()
    type('nofind').disableAction('find')
    type('nofindone').disableAction('findOne')
    type('nocreate').disableAction('create')
    type('noupdate').disableAction('update')
    type('nodelete').disableAction('delete')
    type('acts').disableActions(['update', 'delete'])
    type('star').disableAction('*')
    type('loc').disableMutations()
    type('loc-nocreate').disableAction('create')
    type('single-nofind').disableAction('find')
    type('single-noupdate').disableAction('update')
    const fields = type('fields')
    fields.field('noOut').disableOutput()
    fields.field('noIn').disableInput()
    fields.field('noFilter').disableFilters()
    fields.field('gone').disable()
    fields.field('relNoIn').disableInput()
    fields.field('relNoFilter').disableFilters()
    fields.field('relNoOut').disableOutput()
    fields.field('compNoOut').disableOutput()
  },
`

/** The same, declared. */
export const DECLARED = `
graphql:
  shadowCRUD:
    shadow-off: { enabled: false }
    shadow-noq: { queries: false }
    shadow-nom: { mutations: false }
    shadow-noqm: { queries: false, mutations: false }
    shadow-nofind: { actions: { find: false } }
    shadow-nofindone: { actions: { findOne: false } }
    shadow-nocreate: { actions: { create: false } }
    shadow-noupdate: { actions: { update: false } }
    shadow-nodelete: { actions: { delete: false } }
    shadow-acts: { actions: { update: false, delete: false } }
    shadow-star: { actions: { find: false, findOne: false, create: false, update: false, delete: false } }
    shadow-loc: { mutations: false }
    shadow-loc-nocreate: { actions: { create: false } }
    shadow-single-nofind: { actions: { find: false } }
    shadow-single-noupdate: { actions: { update: false } }
    shadow-fields:
      fields:
        noOut: { output: false }
        noIn: { input: false }
        noFilter: { filters: false }
        gone: { enabled: false }
        relNoIn: { input: false }
        relNoFilter: { filters: false }
        relNoOut: { output: false }
        compNoOut: { output: false }
`

/** The additions in the schema language. */
export const ADDED = `
  register({ graphql }) {
    graphql.use({
      typeDefs: \`
        "A type of the lab"
        type LabThing { a: String b: Int upper: String nested: LabThing list: [LabThing!] plain: ShadowPlainEntityResponse }
        input LabInput { x: Int! y: [String] }
        enum LabEnum { RED GREEN }
        type Query {
          labHello(name: String = "world"): String labThing(a: String): LabThing labInput(in: LabInput!, e: LabEnum): String
          labNoConfig: String labOpen: String labScoped: String labScopedTwo: String labScopedEmpty: String
          labAuthEmpty: String labTrace(key: String): [String] labOrder: [String] labPolicyObject(key: String): String
          labPolicyDenyName: String labPolicyFalse: String labPolicyUndefined: String labPolicyNull: String
          labPolicyZero: String labPolicyString: String labPolicyThrows: String labPolicyThrowsPolicyError: String
          labPolicyAsyncFalse: String labPolicyContext(k: Int): JSON labMwContext(k: Int): JSON
          labMwChangesArgs(k: Int): Int labMwReplaces: String labMwSkips: String labMwThrows: String
          labResolverObject: String labError(kind: String): String labMerged: [String] labMissing: String
        }
        extend type Mutation { labTouch(n: Int!): Int }
        extend type Author { shout: String }
        type AuthorEntity { self: String }
        extend type ShadowPlain { added: String }
      \`,
    })
  },
`

/** The additions made with nexus. */
export const NEXUS = `
  register({ graphql }) {
    graphql.use(({ nexus }) => ({
      types: [
        nexus.objectType({
          name: 'LabNexus',
          description: 'Made with the schema builder',
          definition(t) {
            t.nonNull.string('title', { resolve: ({ title }) => title + '!' })
            t.int('n')
            t.list.string('tags', { resolve: () => ['a', 'b'] })
            t.field('thing', { type: 'Country' })
          },
        }),
        nexus.enumType({ name: 'LabNexusEnum', members: { ONE: 1, TWO: 2 } }),
        nexus.inputObjectType({ name: 'LabNexusInput', definition: t => t.nonNull.field('e', { type: 'LabNexusEnum' }) }),
        nexus.extendType({ type: 'Query', definition: t => t.field('labNexus', {
          type: 'LabNexus',
          args: { title: nexus.nonNull(nexus.stringArg()), n: nexus.intArg({ default: 3 }) },
          resolve: (_, args) => args,
        }) }),
        nexus.extendType({ type: 'Mutation', definition: t => t.string('labNexusMutation', {
          args: { in: nexus.arg({ type: 'LabNexusInput' }) },
          resolve: (_, args) => typeof args.in.e + args.in.e,
        }) }),
        nexus.extendType({ type: 'Country', definition: t => t.string('motto', {
          args: { loud: nexus.booleanArg() },
          resolve: ({ name }, { loud }) => loud ? name + '!' : name,
        }) }),
      ],
      plugins: [
        nexus.plugin({
          name: 'brackets',
          onCreateFieldResolver: ({ fieldConfig, parentTypeConfig }) =>
            fieldConfig.name === 'motto' || (parentTypeConfig.name === 'Country' && fieldConfig.name === 'name')
              ? async (parent, args, context, info, next) => '[' + (await next(parent, args, context, info)) + ']'
              : undefined,
        }),
      ],
      resolversConfig: {
        'Query.labNexus': { auth: false },
        'Mutation.labNexusMutation': { auth: false },
      },
    }))
  },
`
