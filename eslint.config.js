import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';
import plainWords from './.ci/plain-words.mjs';

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/', '.local/', 'site/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'max-lines': ['warn', { max: 300, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
    },
  },
  {
    files: ['src/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'AbortSignal',
          property: 'timeout',
          message: 'Use timeLimit: AbortSignal.any may lose this one.',
        },
      ],
    },
  },
  {
    // Commands write through one file, which makes foreign text visible.
    files: ['src/cli/output.ts', 'src/demo/**', 'src/main.ts', 'bench/**'],
    rules: { 'no-console': 'off' },
  },
  {
    // Tests read JSON off the wire as it comes.
    files: ['test/**'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      'max-lines': ['warn', { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    // Runs in a browser.
    files: ['src/ui/**'],
    languageOptions: {
      globals: Object.fromEntries(
        ['document', 'location', 'navigator', 'sessionStorage', 'fetch', 'Event', 'addEventListener']
          .concat(['dispatchEvent', 'setTimeout', 'clearTimeout', 'scrollTo'])
          .concat(['history', 'Blob', 'URL', 'URLSearchParams', 'AbortController', 'TextDecoderStream'])
          .concat(['setInterval', 'clearInterval', 'removeEventListener'])
          .concat(['Node', 'getComputedStyle', 'ResizeObserver', 'matchMedia'])
          .map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['.ci/**', 'packages/**', '*.cjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        performance: 'readonly',
        console: 'readonly',
        module: 'writable',
        require: 'readonly',
      },
    },
  },
  {
    files: ['**/*.{ts,js,mjs,cjs}'],
    plugins: { local: { rules: { 'plain-words': plainWords } } },
    rules: { 'local/plain-words': 'error' },
  },
  prettier,
);
