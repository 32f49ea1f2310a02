"""``python -m reproduction list|all|NAME...``"""

from reproduction.cli import main

if __name__ == "__main__":
    main()
