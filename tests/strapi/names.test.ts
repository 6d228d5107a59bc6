import test from 'ava'
import { namesOf, snakeCase } from '../../tools/strapi/strapi-names.ts'

// The names that Strapi 5.54 itself used.

const LONG = 'a_really_long_collection_name_of_things_that_go_on_and_on'

test('tables and columns of Strapi 5 are found by their generated names, shortened ones included', t => {
  const names = namesOf(5)
  t.is(names.table('articles'), 'articles')
  t.is(names.table(LONG), 'a_really_long_collection_name_of_things_that_go_onf05ed')
  t.is(names.links('articles', 'relatedArticles'), 'articles_related_articles_lnk')
  t.is(names.links(LONG, 'anAttribute'), 'a_really_long_collection_name_of_f05ed_an_attribute_lnk')
  t.is(
    names.links('articles', 'an_attribute_of_a_very_long_name_that_says_it_all'),
    'articles_an_attribute_of_a_very_long_name_thatb4213_lnk',
  )
  t.is(names.components(LONG), 'a_really_long_collection_name_of_things_that_f05ed_cmps')
  t.is(
    names.column('anAttributeOfAVeryLongNameThatSaysItAllAndMoreThanThat2'),
    'an_attribute_of_a_very_long_name_that_says_it_all_f5fff',
  )
})

test('names of Strapi 4 are cut at the limit of PostgreSQL', t => {
  const names = namesOf(4)
  t.is(names.links('articles', 'relatedArticles'), 'articles_related_articles_links')
  t.is(names.links(LONG, 'anAttribute'), 'a_really_long_collection_name_of_things_that_go_on_and_on_an_at')
})

test('a name is split into words as in Strapi', t => {
  const words = {
    fooBar2: 'foo_bar_2',
    x1: 'x_1',
    HTMLParts: 'html_parts',
    list2nd: 'list_2nd',
    v2ray: 'v_2_ray',
  }
  for (const [name, snake] of Object.entries(words)) t.is(snakeCase(name), snake)
})
