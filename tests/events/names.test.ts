import test from 'ava'
import { eventPatternFault, listenerKey, matchesPattern } from '../../core/events/events.ts'
import { modelOf } from '../model/compiled.ts'
import { model } from './listening.ts'

test('an event pattern has a content-type and an action, each of which may be a wildcard', t => {
  for (const name of ['article.publish', 'article.*', '*.publish', '*.create', '*.*', 'note.delete'])
    t.is(eventPatternFault(name, model), undefined, name)
})

test('an unknown event is refused with the nearest name', t => {
  t.is(
    eventPatternFault('article.published', model),
    'unknown event `article.published`: did you mean `article.publish`?',
  )
  t.is(
    eventPatternFault('artcle.publish', model),
    'unknown event `artcle.publish`: did you mean `article.publish`?',
  )
  t.is(eventPatternFault('publish', model), 'unknown event `publish`: did you mean `*.publish`?')
  t.is(eventPatternFault('notes.*', model), 'unknown event `notes.*`: did you mean `note.*`?')
  t.is(
    eventPatternFault('article.discarddraft', model),
    'unknown event `article.discarddraft`: did you mean `article.discardDraft`?',
  )
})

test('without a near name the message explains the format', t => {
  for (const name of ['', '.', '*', 'something.else', 'api::article.article', '__proto__.create'])
    t.regex(
      eventPatternFault(name, model) ?? '',
      /^unknown event `.*`: it is a content-type's name or `\*`, a dot, and `create`, /,
    )
})

test('a content-type without drafts has no publish events', async t => {
  const plain = await modelOf('contentTypes: { note: { attributes: { text: string } } }')
  t.is(
    eventPatternFault('note.publish', model),
    'unknown event `note.publish`: `note` has no drafts (draftAndPublish)',
  )
  t.is(
    eventPatternFault('*.unpublish', plain),
    'unknown event `*.unpublish`: no content-type has drafts (draftAndPublish)',
  )
})

test('events of users and files must be named; roles and locales have none', t => {
  for (const name of ['user.create', 'user.*', 'file.delete'])
    t.is(eventPatternFault(name, model), undefined, name)
  t.is(
    eventPatternFault('role.create', model),
    'unknown event `role.create`: documents of `role` have no events',
  )
  t.is(
    eventPatternFault('user.publish', model),
    'unknown event `user.publish`: `user` has no drafts (draftAndPublish)',
  )
  for (const type of [model.builtIn.user, model.builtIn.file]) {
    t.false(matchesPattern('*.*', type, 'create'))
    t.true(matchesPattern(`${type.key}.*`, type, 'create'))
  }
})

test('the key of a listener is unique and the same after every start', t => {
  t.is(listenerKey('audit', '*.*', 0), 'audit *.*')
  t.is(listenerKey('audit', '*.*', 1), 'audit *.* 2')
  const long = 'x'.repeat(300)
  t.is(listenerKey(long, '*.*', 0).length, 255)
  t.not(listenerKey(long, '*.*', 0), listenerKey(long, '*.*', 1))
})
