CREATE TABLE public.articles ( id integer NOT NULL, title character varying(255), slug character varying(255), body text, content jsonb, excerpt text, rating integer, price numeric(10,2), views bigint, score double precision, day date, at time without time zone, happens_at timestamp(6) without time zone, stamp timestamp(6) without time zone, featured boolean, kind character varying(255), contact character varying(255), meta jsonb, code character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.articles_author_links ( id integer NOT NULL, article_id integer, author_id integer, article_order double precision );
CREATE TABLE public.articles_categories_links ( id integer NOT NULL, article_id integer, category_id integer, category_order double precision, article_order double precision );
CREATE TABLE public.articles_components ( id integer NOT NULL, entity_id integer, component_id integer, component_type character varying(255), field character varying(255), "order" double precision );
CREATE TABLE public.articles_localizations_links ( id integer NOT NULL, article_id integer, inv_article_id integer, article_order double precision );
CREATE TABLE public.articles_related_links ( id integer NOT NULL, article_id integer, inv_article_id integer, article_order double precision );
CREATE TABLE public.authors ( id integer NOT NULL, name character varying(255), email character varying(255), bio text, secret character varying(255), pin character varying(255), birthday date, created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.capitals ( id integer NOT NULL, name character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.categories ( id integer NOT NULL, name character varying(255), slug character varying(255), "position" integer, created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.components_blocks_galleries ( id integer NOT NULL, title character varying(255) );
CREATE TABLE public.components_blocks_galleries_components ( id integer NOT NULL, entity_id integer, component_id integer, component_type character varying(255), field character varying(255), "order" double precision );
CREATE TABLE public.components_blocks_quotes ( id integer NOT NULL, text text );
CREATE TABLE public.components_blocks_quotes_author_links ( id integer NOT NULL, quote_id integer, author_id integer );
CREATE TABLE public.components_shared_links ( id integer NOT NULL, label character varying(255), url character varying(255) );
CREATE TABLE public.components_shared_seos ( id integer NOT NULL, meta_title character varying(255), meta_description text, keywords jsonb );
CREATE TABLE public.countries ( id integer NOT NULL, name character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.countries_capital_links ( id integer NOT NULL, country_id integer, capital_id integer );
CREATE TABLE public.dishes ( id integer NOT NULL, name character varying(255), price numeric(10,2), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.dishes_restaurant_links ( id integer NOT NULL, dish_id integer, restaurant_id integer, dish_order double precision );
CREATE TABLE public.files ( id integer NOT NULL, name character varying(255), alternative_text character varying(255), caption character varying(255), width integer, height integer, formats jsonb, hash character varying(255), ext character varying(255), mime character varying(255), size numeric(10,2), url character varying(255), preview_url character varying(255), provider character varying(255), provider_metadata jsonb, folder_path character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.files_folder_links ( id integer NOT NULL, file_id integer, folder_id integer, file_order double precision );
CREATE TABLE public.files_related_morphs ( id integer NOT NULL, file_id integer, related_id integer, related_type character varying(255), field character varying(255), "order" double precision );
CREATE TABLE public.homepages ( id integer NOT NULL, title character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.homepages_components ( id integer NOT NULL, entity_id integer, component_id integer, component_type character varying(255), field character varying(255), "order" double precision );
CREATE TABLE public.homepages_featured_links ( id integer NOT NULL, homepage_id integer, article_id integer, article_order double precision );
CREATE TABLE public.homepages_localizations_links ( id integer NOT NULL, homepage_id integer, inv_homepage_id integer, homepage_order double precision );
CREATE TABLE public.i18n_locale ( id integer NOT NULL, name character varying(255), code character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.restaurants ( id integer NOT NULL, name character varying(255), description text, opened boolean, stars integer, created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.restaurants_chef_links ( id integer NOT NULL, restaurant_id integer, author_id integer );
CREATE TABLE public.restaurants_owner_links ( id integer NOT NULL, restaurant_id integer, user_id integer );
CREATE TABLE public.settings ( id integer NOT NULL, site_name character varying(255), footer text, created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.strapi_api_tokens ( id integer NOT NULL, name character varying(255), description character varying(255), type character varying(255), access_key character varying(255), last_used_at timestamp(6) without time zone, expires_at timestamp(6) without time zone, lifespan bigint, created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.strapi_core_store_settings ( id integer NOT NULL, key character varying(255), value text, type character varying(255), environment character varying(255), tag character varying(255) );
CREATE TABLE public.up_permissions ( id integer NOT NULL, action character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.up_permissions_role_links ( id integer NOT NULL, permission_id integer, role_id integer, permission_order double precision );
CREATE TABLE public.up_roles ( id integer NOT NULL, name character varying(255), description character varying(255), type character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.up_users ( id integer NOT NULL, username character varying(255), email character varying(255), provider character varying(255), password character varying(255), reset_password_token character varying(255), confirmation_token character varying(255), confirmed boolean, blocked boolean, created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.up_users_role_links ( id integer NOT NULL, user_id integer, role_id integer, user_order double precision );
CREATE TABLE public.upload_folders ( id integer NOT NULL, name character varying(255), path_id integer, path character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer );
CREATE TABLE public.upload_folders_parent_links ( id integer NOT NULL, folder_id integer, inv_folder_id integer, folder_order double precision );
INSERT INTO public.articles VALUES
	(2, 'Second look', 'second-look', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, 'news', NULL, NULL, 'A2', '2026-11-21 20:09:50.83', '2026-11-21 20:09:50.83', '2026-11-21 20:09:50.382', NULL, NULL, 'en'),
	(3, 'Third draft', 'third-draft', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, 'news', NULL, NULL, 'A3', '2026-11-21 20:09:51', '2026-11-21 20:09:51', NULL, NULL, NULL, 'en'),
	(1, 'First steps', 'first-steps', '# Hello', '[{"type": "paragraph", "children": [{"text": "Hi", "type": "text"}]}]', 'Short', 7, 12.50, 9007199254740993, 1.25, '2024-02-29', '10:30:00', '2024-02-29 10:30:00', NULL, true, 'opinion', 'a@example.org', '{"deep": [1, null, "x"]}', 'A1', '2026-11-21 20:09:50.604', '2026-11-21 20:09:51.49', '2026-11-21 20:09:50.382', NULL, NULL, 'en'),
	(4, 'Premiers pas', 'premiers-pas', '# Bonjour', '[{"type": "paragraph", "children": [{"text": "Hi", "type": "text"}]}]', 'Short', 7, 12.50, 9007199254740993, 1.25, '2024-02-29', '10:30:00', '2024-02-29 10:30:00', NULL, true, 'opinion', 'a@example.org', '{"deep": [1, null, "x"]}', 'A1', '2026-11-21 20:09:51.382', '2026-11-21 20:09:51.538', '2026-11-21 20:09:50.382', NULL, NULL, 'fr'),
	(5, 'Solo italiano', 'solo', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, 'news', NULL, NULL, 'A4', '2026-11-21 20:09:51.666', '2026-11-21 20:09:51.666', NULL, NULL, NULL, 'it');
INSERT INTO public.articles_author_links VALUES
	(1, 1, 1, 1),
	(2, 2, 1, 2),
	(3, 3, 2, 1),
	(4, 4, 3, 1);
INSERT INTO public.articles_categories_links VALUES
	(1, 1, 3, 1, 1),
	(2, 1, 1, 2, 1),
	(3, 2, 1, 1, 2),
	(4, 2, 2, 2, 1),
	(5, 4, 2, 1, 2);
INSERT INTO public.articles_components VALUES
	(1, 1, 1, 'shared.seo', 'seo', NULL),
	(2, 1, 1, 'shared.link', 'links', 1),
	(3, 1, 2, 'shared.link', 'links', 2),
	(4, 1, 3, 'shared.link', 'blocks', 1),
	(5, 1, 1, 'blocks.quote', 'blocks', 2),
	(6, 1, 1, 'blocks.gallery', 'blocks', 3),
	(7, 1, 5, 'shared.link', 'blocks', 4),
	(8, 4, 2, 'shared.seo', 'seo', NULL),
	(9, 4, 8, 'shared.link', 'links', 1),
	(10, 4, 7, 'shared.link', 'links', 2),
	(11, 4, 9, 'shared.link', 'blocks', 1),
	(12, 4, 2, 'blocks.quote', 'blocks', 2),
	(13, 4, 2, 'blocks.gallery', 'blocks', 3),
	(14, 4, 12, 'shared.link', 'blocks', 4);
INSERT INTO public.articles_localizations_links VALUES
	(1, 4, 1, 1),
	(2, 1, 4, 1);
INSERT INTO public.articles_related_links VALUES
	(1, 2, 1, 1),
	(2, 1, 3, 1),
	(3, 1, 2, 2);
INSERT INTO public.authors VALUES
	(1, 'Ida', 'ida@example.org', '**Ida** writes', 'hush', '$2a$10$BGgEj7nfpIKVB7SJf0Hgg.DlYI6X7vvuKsjSsKrm0YSCD8T8pH8w2', '1990-02-28', '2026-11-21 20:09:50.301', '2026-11-21 20:09:50.301', NULL, NULL),
	(2, 'Jon', NULL, NULL, NULL, NULL, NULL, '2026-11-21 20:09:50.339', '2026-11-21 20:09:50.339', NULL, NULL),
	(3, 'Kim', NULL, NULL, NULL, NULL, NULL, '2026-11-21 20:09:50.362', '2026-11-21 20:09:50.362', NULL, NULL);
INSERT INTO public.capitals VALUES
	(1, 'Stockholm', '2026-11-21 20:09:52.092', '2026-11-21 20:09:52.092', NULL, NULL);
INSERT INTO public.categories VALUES
	(1, 'News', 'news', 0, '2026-11-21 20:09:49.95', '2026-11-21 20:09:49.95', NULL, NULL),
	(2, 'Food', 'food', 1, '2026-11-21 20:09:49.973', '2026-11-21 20:09:49.973', NULL, NULL),
	(3, 'Travel', 'travel', 2, '2026-11-21 20:09:50.04', '2026-11-21 20:09:50.04', NULL, NULL);
INSERT INTO public.components_blocks_galleries VALUES
	(1, 'G'),
	(2, 'G');
INSERT INTO public.components_blocks_galleries_components VALUES
	(1, 1, 4, 'shared.link', 'links', 1),
	(2, 1, 6, 'shared.link', 'links', 2),
	(3, 2, 11, 'shared.link', 'links', 1),
	(4, 2, 10, 'shared.link', 'links', 2);
INSERT INTO public.components_blocks_quotes VALUES
	(1, 'Q'),
	(2, 'Q');
INSERT INTO public.components_blocks_quotes_author_links VALUES
	(1, 1, 2),
	(2, 2, 2);
INSERT INTO public.components_shared_links VALUES
	(1, 'One', '/1'),
	(2, 'Two', '/2'),
	(3, 'L', '/l'),
	(4, 'in', '/in'),
	(5, 'L2', '/l2'),
	(6, 'in2', '/in2'),
	(7, 'Two', '/2'),
	(8, 'One', '/1'),
	(9, 'L', '/l'),
	(10, 'in2', '/in2'),
	(11, 'in', '/in'),
	(12, 'L2', '/l2');
INSERT INTO public.components_shared_seos VALUES
	(1, 'First', 'The first', '["a", {"b": 1}]'),
	(2, 'First', 'The first', '["a", {"b": 1}]'),
	(3, 'Hero', NULL, NULL);
INSERT INTO public.countries VALUES
	(1, 'Sweden', '2026-11-21 20:09:52.03', '2026-11-21 20:09:52.03', NULL, NULL),
	(2, 'Atlantis', '2026-11-21 20:09:52.134', '2026-11-21 20:09:52.134', NULL, NULL);
INSERT INTO public.countries_capital_links VALUES
	(1, 1, 1);
INSERT INTO public.dishes VALUES
	(1, 'Soup', 4.50, '2026-11-21 20:09:51.838', '2026-11-21 20:09:51.838', NULL, NULL),
	(2, 'Cake', 5.00, '2026-11-21 20:09:51.917', '2026-11-21 20:09:51.917', NULL, NULL),
	(3, 'Nuts', NULL, '2026-11-21 20:09:51.989', '2026-11-21 20:09:51.989', NULL, NULL);
INSERT INTO public.dishes_restaurant_links VALUES
	(1, 1, 1, 1),
	(2, 2, 1, 2),
	(3, 3, 2, 1);
INSERT INTO public.files VALUES
	(1, 'red.png', 'Red', 'All red', 4, 4, NULL, 'red_2ce9764bd0', '.png', 'image/png', 0.10, '/uploads/red_2ce9764bd0.png', NULL, 'local', NULL, '/', '2026-11-21 20:09:48.655', '2026-11-21 20:09:48.655', NULL, NULL),
	(2, 'blue.png', NULL, NULL, 4, 4, NULL, 'blue_7cc5999719', '.png', 'image/png', 0.10, '/uploads/blue_7cc5999719.png', NULL, 'local', NULL, '/', '2026-11-21 20:09:48.702', '2026-11-21 20:09:48.702', NULL, NULL),
	(3, 'green.png', NULL, NULL, 4, 4, NULL, 'green_3fcabde804', '.png', 'image/png', 0.10, '/uploads/green_3fcabde804.png', NULL, 'local', NULL, '/', '2026-11-21 20:09:48.867', '2026-11-21 20:09:48.867', NULL, NULL);
INSERT INTO public.files_related_morphs VALUES
	(1, 1, 1, 'api::author.author', 'avatar', 1),
	(2, 1, 1, 'shared.seo', 'shareImage', 1),
	(3, 2, 1, 'blocks.gallery', 'images', 1),
	(4, 3, 1, 'blocks.gallery', 'images', 2),
	(5, 1, 1, 'api::article.article', 'cover', 1),
	(6, 3, 1, 'api::article.article', 'gallery', 1),
	(7, 2, 1, 'api::article.article', 'gallery', 2),
	(8, 1, 1, 'api::article.article', 'gallery', 3),
	(9, 1, 2, 'shared.seo', 'shareImage', 1),
	(10, 2, 2, 'blocks.gallery', 'images', 1),
	(11, 3, 2, 'blocks.gallery', 'images', 2),
	(12, 1, 4, 'api::article.article', 'cover', 1),
	(13, 3, 4, 'api::article.article', 'gallery', 1),
	(14, 2, 4, 'api::article.article', 'gallery', 2),
	(15, 1, 4, 'api::article.article', 'gallery', 3);
INSERT INTO public.homepages VALUES
	(1, 'Home', '2026-11-21 20:09:52.221', '2026-11-21 20:09:52.221', '2026-11-21 20:09:50.382', NULL, NULL, 'en');
INSERT INTO public.homepages_components VALUES
	(1, 1, 3, 'shared.seo', 'hero', NULL);
INSERT INTO public.homepages_featured_links VALUES
	(1, 1, 2, 1),
	(2, 1, 1, 2);
INSERT INTO public.i18n_locale VALUES
	(1, 'English (en)', 'en', '2026-11-21 20:09:36.949', '2026-11-21 20:09:36.949', NULL, NULL),
	(2, 'French (fr)', 'fr', '2026-11-21 20:09:46.772', '2026-11-21 20:09:46.772', NULL, NULL),
	(3, 'Italian (it)', 'it', '2026-11-21 20:09:47.865', '2026-11-21 20:09:47.865', NULL, NULL);
INSERT INTO public.restaurants VALUES
	(1, 'Café', 'Nice', true, 3, '2026-11-21 20:09:51.702', '2026-11-21 20:09:51.702', '2026-11-21 20:09:50.382', NULL, NULL),
	(2, 'Bar', NULL, false, NULL, '2026-11-21 20:09:51.781', '2026-11-21 20:09:51.781', NULL, NULL, NULL);
INSERT INTO public.restaurants_chef_links VALUES
	(1, 1, 1);
INSERT INTO public.restaurants_owner_links VALUES
	(1, 1, 1);
INSERT INTO public.settings VALUES
	(1, 'Fixture', 'Feet', '2026-11-21 20:09:52.26', '2026-11-21 20:09:52.26', NULL, NULL);
INSERT INTO public.strapi_api_tokens VALUES
	(1, 'Website', '', 'read-only', 'removed', NULL, NULL, NULL, '2026-11-21 20:09:52.298', '2026-11-21 20:09:52.298', NULL, NULL);
INSERT INTO public.strapi_core_store_settings VALUES
	(36, 'plugin_i18n_default_locale', '"en"', 'string', NULL, NULL),
	(35, 'plugin_users-permissions_advanced', '{"unique_email":true,"allow_register":true,"email_confirmation":false,"email_reset_password":null,"email_confirmation_redirection":null,"default_role":"authenticated"}', 'object', NULL, NULL);
INSERT INTO public.up_permissions VALUES
	(1, 'plugin::users-permissions.auth.changePassword', '2026-11-21 20:09:36.683', '2026-11-21 20:09:36.683', NULL, NULL),
	(2, 'plugin::users-permissions.user.me', '2026-11-21 20:09:36.683', '2026-11-21 20:09:36.683', NULL, NULL),
	(3, 'plugin::users-permissions.auth.connect', '2026-11-21 20:09:36.731', '2026-11-21 20:09:36.731', NULL, NULL),
	(4, 'plugin::users-permissions.auth.callback', '2026-11-21 20:09:36.731', '2026-11-21 20:09:36.731', NULL, NULL),
	(5, 'plugin::users-permissions.auth.emailConfirmation', '2026-11-21 20:09:36.731', '2026-11-21 20:09:36.731', NULL, NULL),
	(6, 'plugin::users-permissions.auth.resetPassword', '2026-11-21 20:09:36.731', '2026-11-21 20:09:36.731', NULL, NULL),
	(7, 'plugin::users-permissions.auth.forgotPassword', '2026-11-21 20:09:36.731', '2026-11-21 20:09:36.731', NULL, NULL),
	(8, 'plugin::users-permissions.auth.register', '2026-11-21 20:09:36.731', '2026-11-21 20:09:36.731', NULL, NULL),
	(9, 'plugin::users-permissions.auth.sendEmailConfirmation', '2026-11-21 20:09:36.731', '2026-11-21 20:09:36.731', NULL, NULL),
	(10, 'api::article.article.findOne', '2026-11-21 20:09:48.883', '2026-11-21 20:09:48.883', NULL, NULL),
	(11, 'plugin::i18n.locales.listLocales', '2026-11-21 20:09:48.884', '2026-11-21 20:09:48.884', NULL, NULL),
	(12, 'api::category.category.find', '2026-11-21 20:09:48.884', '2026-11-21 20:09:48.884', NULL, NULL),
	(13, 'api::article.article.find', '2026-11-21 20:09:48.883', '2026-11-21 20:09:48.883', NULL, NULL),
	(14, 'api::article.article.find', '2026-11-21 20:09:48.918', '2026-11-21 20:09:48.918', NULL, NULL),
	(15, 'api::author.author.find', '2026-11-21 20:09:48.918', '2026-11-21 20:09:48.918', NULL, NULL),
	(16, 'api::article.article.find', '2026-11-21 20:09:48.963', '2026-11-21 20:09:48.963', NULL, NULL),
	(17, 'api::article.article.findOne', '2026-11-21 20:09:48.963', '2026-11-21 20:09:48.963', NULL, NULL),
	(18, 'api::article.article.update', '2026-11-21 20:09:48.963', '2026-11-21 20:09:48.963', NULL, NULL),
	(19, 'api::article.article.create', '2026-11-21 20:09:48.963', '2026-11-21 20:09:48.963', NULL, NULL),
	(20, 'api::article.article.delete', '2026-11-21 20:09:48.963', '2026-11-21 20:09:48.963', NULL, NULL),
	(21, 'plugin::upload.content-api.upload', '2026-11-21 20:09:48.963', '2026-11-21 20:09:48.963', NULL, NULL),
	(22, 'plugin::users-permissions.user.me', '2026-11-21 20:09:48.963', '2026-11-21 20:09:48.963', NULL, NULL),
	(23, 'api::article.article.archive', '2026-11-21 20:09:48.976', '2026-11-21 20:09:48.976', NULL, NULL);
INSERT INTO public.up_permissions_role_links VALUES
	(1, 1, 1, 1),
	(2, 2, 1, 1),
	(3, 3, 2, 1),
	(4, 4, 2, 1),
	(5, 5, 2, 1),
	(6, 6, 2, 1),
	(7, 8, 2, 2),
	(8, 7, 2, 2),
	(9, 9, 2, 2),
	(10, 10, 2, 3),
	(11, 11, 2, 3),
	(12, 12, 2, 4),
	(13, 13, 2, 4),
	(14, 14, 1, 2),
	(15, 15, 1, 2),
	(16, 17, 3, 1),
	(17, 18, 3, 1),
	(18, 16, 3, 1),
	(19, 20, 3, 1),
	(20, 19, 3, 2),
	(21, 21, 3, 2),
	(22, 22, 3, 2),
	(23, 23, 3, 2);
INSERT INTO public.up_roles VALUES
	(1, 'Authenticated', 'Default role given to authenticated user.', 'authenticated', '2026-11-21 20:09:36.551', '2026-11-21 20:09:36.551', NULL, NULL),
	(2, 'Public', 'Default role given to unauthenticated user.', 'public', '2026-11-21 20:09:36.611', '2026-11-21 20:09:36.611', NULL, NULL),
	(3, 'Editor', 'Writes', 'editor', '2026-11-21 20:09:48.882', '2026-11-21 20:09:48.882', NULL, NULL);
INSERT INTO public.up_users VALUES
	(1, 'ann', 'ann@example.org', 'local', '$2a$10$idD6FW2VKZ5Nwk5kQHrzhO3dEh/Z2t1UQNFdopjF6Q9w3JOreFglS', NULL, NULL, true, false, '2026-11-21 20:09:49.467', '2026-11-21 20:09:49.467', NULL, NULL),
	(2, 'bob', 'bob@example.org', 'local', '$2a$10$EQ/0ikmbyt4TsDWmk2iBYufcEha1ttTs34pJUhzCcvTKE5fLo4e4e', NULL, NULL, true, true, '2026-11-21 20:09:49.901', '2026-11-21 20:09:49.901', NULL, NULL);
INSERT INTO public.up_users_role_links VALUES
	(1, 1, 3, 1),
	(2, 2, 1, 1);
ALTER TABLE ONLY public.articles_author_links ADD CONSTRAINT articles_author_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.articles_categories_links ADD CONSTRAINT articles_categories_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.articles_components ADD CONSTRAINT articles_components_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.articles_localizations_links ADD CONSTRAINT articles_localizations_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.articles ADD CONSTRAINT articles_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.articles_related_links ADD CONSTRAINT articles_related_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.authors ADD CONSTRAINT authors_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.capitals ADD CONSTRAINT capitals_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.categories ADD CONSTRAINT categories_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.components_blocks_galleries_components ADD CONSTRAINT components_blocks_galleries_components_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.components_blocks_galleries ADD CONSTRAINT components_blocks_galleries_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.components_blocks_quotes_author_links ADD CONSTRAINT components_blocks_quotes_author_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.components_blocks_quotes ADD CONSTRAINT components_blocks_quotes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.components_shared_links ADD CONSTRAINT components_shared_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.components_shared_seos ADD CONSTRAINT components_shared_seos_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.countries_capital_links ADD CONSTRAINT countries_capital_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.countries ADD CONSTRAINT countries_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.dishes ADD CONSTRAINT dishes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.dishes_restaurant_links ADD CONSTRAINT dishes_restaurant_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.files_folder_links ADD CONSTRAINT files_folder_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.files ADD CONSTRAINT files_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.files_related_morphs ADD CONSTRAINT files_related_morphs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.homepages_components ADD CONSTRAINT homepages_components_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.homepages_featured_links ADD CONSTRAINT homepages_featured_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.homepages_localizations_links ADD CONSTRAINT homepages_localizations_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.homepages ADD CONSTRAINT homepages_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.i18n_locale ADD CONSTRAINT i18n_locale_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.restaurants_chef_links ADD CONSTRAINT restaurants_chef_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.restaurants_owner_links ADD CONSTRAINT restaurants_owner_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.restaurants ADD CONSTRAINT restaurants_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.settings ADD CONSTRAINT settings_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.strapi_api_tokens ADD CONSTRAINT strapi_api_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.strapi_core_store_settings ADD CONSTRAINT strapi_core_store_settings_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.up_permissions ADD CONSTRAINT up_permissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.up_permissions_role_links ADD CONSTRAINT up_permissions_role_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.up_roles ADD CONSTRAINT up_roles_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.up_users ADD CONSTRAINT up_users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.up_users_role_links ADD CONSTRAINT up_users_role_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.upload_folders_parent_links ADD CONSTRAINT upload_folders_parent_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.upload_folders ADD CONSTRAINT upload_folders_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.articles_author_links ADD CONSTRAINT articles_author_links_fk FOREIGN KEY (article_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_author_links ADD CONSTRAINT articles_author_links_inv_fk FOREIGN KEY (author_id) REFERENCES public.authors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_categories_links ADD CONSTRAINT articles_categories_links_fk FOREIGN KEY (article_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_categories_links ADD CONSTRAINT articles_categories_links_inv_fk FOREIGN KEY (category_id) REFERENCES public.categories(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_components ADD CONSTRAINT articles_entity_fk FOREIGN KEY (entity_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_localizations_links ADD CONSTRAINT articles_localizations_links_fk FOREIGN KEY (article_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_localizations_links ADD CONSTRAINT articles_localizations_links_inv_fk FOREIGN KEY (inv_article_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_related_links ADD CONSTRAINT articles_related_links_fk FOREIGN KEY (article_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_related_links ADD CONSTRAINT articles_related_links_inv_fk FOREIGN KEY (inv_article_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.components_blocks_galleries_components ADD CONSTRAINT components_blocks_galleries_entity_fk FOREIGN KEY (entity_id) REFERENCES public.components_blocks_galleries(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.components_blocks_quotes_author_links ADD CONSTRAINT components_blocks_quotes_author_links_fk FOREIGN KEY (quote_id) REFERENCES public.components_blocks_quotes(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.components_blocks_quotes_author_links ADD CONSTRAINT components_blocks_quotes_author_links_inv_fk FOREIGN KEY (author_id) REFERENCES public.authors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.countries_capital_links ADD CONSTRAINT countries_capital_links_fk FOREIGN KEY (country_id) REFERENCES public.countries(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.countries_capital_links ADD CONSTRAINT countries_capital_links_inv_fk FOREIGN KEY (capital_id) REFERENCES public.capitals(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.dishes_restaurant_links ADD CONSTRAINT dishes_restaurant_links_fk FOREIGN KEY (dish_id) REFERENCES public.dishes(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.dishes_restaurant_links ADD CONSTRAINT dishes_restaurant_links_inv_fk FOREIGN KEY (restaurant_id) REFERENCES public.restaurants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.files_folder_links ADD CONSTRAINT files_folder_links_fk FOREIGN KEY (file_id) REFERENCES public.files(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.files_folder_links ADD CONSTRAINT files_folder_links_inv_fk FOREIGN KEY (folder_id) REFERENCES public.upload_folders(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.files_related_morphs ADD CONSTRAINT files_related_morphs_fk FOREIGN KEY (file_id) REFERENCES public.files(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.homepages_components ADD CONSTRAINT homepages_entity_fk FOREIGN KEY (entity_id) REFERENCES public.homepages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.homepages_featured_links ADD CONSTRAINT homepages_featured_links_fk FOREIGN KEY (homepage_id) REFERENCES public.homepages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.homepages_featured_links ADD CONSTRAINT homepages_featured_links_inv_fk FOREIGN KEY (article_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.homepages_localizations_links ADD CONSTRAINT homepages_localizations_links_fk FOREIGN KEY (homepage_id) REFERENCES public.homepages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.homepages_localizations_links ADD CONSTRAINT homepages_localizations_links_inv_fk FOREIGN KEY (inv_homepage_id) REFERENCES public.homepages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.restaurants_chef_links ADD CONSTRAINT restaurants_chef_links_fk FOREIGN KEY (restaurant_id) REFERENCES public.restaurants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.restaurants_chef_links ADD CONSTRAINT restaurants_chef_links_inv_fk FOREIGN KEY (author_id) REFERENCES public.authors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.restaurants_owner_links ADD CONSTRAINT restaurants_owner_links_fk FOREIGN KEY (restaurant_id) REFERENCES public.restaurants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.restaurants_owner_links ADD CONSTRAINT restaurants_owner_links_inv_fk FOREIGN KEY (user_id) REFERENCES public.up_users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.up_permissions_role_links ADD CONSTRAINT up_permissions_role_links_fk FOREIGN KEY (permission_id) REFERENCES public.up_permissions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.up_permissions_role_links ADD CONSTRAINT up_permissions_role_links_inv_fk FOREIGN KEY (role_id) REFERENCES public.up_roles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.up_users_role_links ADD CONSTRAINT up_users_role_links_fk FOREIGN KEY (user_id) REFERENCES public.up_users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.up_users_role_links ADD CONSTRAINT up_users_role_links_inv_fk FOREIGN KEY (role_id) REFERENCES public.up_roles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.upload_folders_parent_links ADD CONSTRAINT upload_folders_parent_links_fk FOREIGN KEY (folder_id) REFERENCES public.upload_folders(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.upload_folders_parent_links ADD CONSTRAINT upload_folders_parent_links_inv_fk FOREIGN KEY (inv_folder_id) REFERENCES public.upload_folders(id) ON DELETE CASCADE;
