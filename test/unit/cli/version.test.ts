// scim-bridge --version prints the version of package.json and the revision of the image.
import { createProgram } from '../../../src/cli/index.ts';
import { packageVersion } from '../../../src/support/version.ts';

test.each([
  ['without a revision: the version alone', {}, packageVersion()],
  [
    'with a revision: the revision too',
    { SCIM_BRIDGE_REVISION: '3fdcfea' },
    `${packageVersion()} (revision 3fdcfea)`,
  ],
])(
  '--version prints the version, and the revision in brackets if it is known: %s',
  async (_name, env, text) => {
    const printed: string[] = [];
    const program = await createProgram({ env, cwd: '/', exit: () => undefined }, []);
    program.configureOutput({ writeOut: (line) => printed.push(line.trim()) });
    await expect(program.parseAsync(['--version'], { from: 'user' })).rejects.toMatchObject({ exitCode: 0 });
    expect(printed).toEqual([text]);
  },
);
